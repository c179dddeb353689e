"""Many e-mails, and workers that are killed at random meanwhile: every invoice is there once.

$ERRAND_INVOICES_MAILS says how many (default: 200).
"""

import collections
import os
import random
import time
import unittest

from built_program import DEADLINE
from invoices_program import InvoicesTest, OnPostgres, mail, number, xml_invoice

MAILS = int(os.environ.get("ERRAND_INVOICES_MAILS", "200"))
KILLS = 6


class KilledWorkers(InvoicesTest):
    def test_every_invoice_is_stored_once(self):
        for name in ("new", "cur", "tmp"):
            (self.directory / "Maildir" / name).mkdir(parents=True)
        for i in range(MAILS):
            content = mail(f"{i}@x", [("a.xml", xml_invoice(number(i)))])
            self.write(f"Maildir/new/{i:06}.host", content)
        begin = time.monotonic()
        self.assertEqual(len(self.ingest("--maildir", "Maildir")), MAILS)
        ingested = time.monotonic()

        chance = random.Random(4)
        options = ("--concurrency", "2", "--lease", "1s", "--log-level", "error")
        kills = 0
        while True:
            worker = self.start("worker", *options)
            done = self.completed()
            if kills < KILLS and done < MAILS:
                # Somewhere in the work that this worker still has.
                target = min(MAILS, done + chance.randrange(1, MAILS // KILLS))
                self.wait_until(lambda: self.completed() >= target, "no progress")
                worker.kill()
                worker.wait()
                kills += 1
                continue
            self.wait_until(lambda: self.completed() == MAILS, "not all are done")
            self.stop(worker)
            break
        ended = time.monotonic()
        self.assertEqual(kills, KILLS)

        exported = self.invoices("invoices", "export", "--format", "csv").stdout.splitlines()[1:]
        numbers = collections.Counter(line.split(",")[2] for line in exported)
        self.assertEqual(numbers, collections.Counter(number(i) for i in range(MAILS)))
        by_status = self.json("tasks", "list", "--status", "completed", "--page-size", "1")
        self.assertEqual(by_status["total"], MAILS)
        self.assertEqual(self.json("monitor", "stuck"), [])
        print(f"\n{MAILS} e-mails: ingested at {MAILS / (ingested - begin):.0f}/s, processed at "
              f"{MAILS / (ended - ingested):.1f}/s with {kills} workers killed")

    def completed(self):
        return self.json("tasks", "list", "--status", "completed", "--page-size", "1")["total"]


class KilledWorkersOnPostgres(OnPostgres, KilledWorkers):
    pass


if __name__ == "__main__":
    unittest.main()
