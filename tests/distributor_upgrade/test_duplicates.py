"""The same check a hundred times, four worker processes, one of them killed: one upgrade."""

import os
import random
import select
import signal
import time
import unittest

from distributors_program import DEADLINE, Distributors, PostgresStorage, SqliteStorage


class Duplicates(Distributors):
    # What the killed worker held comes back after this many seconds.
    dsn_options = "redeliver_timeout=2"

    def copy_message(self, copies):
        """The one message that waits, as often as a sender that repeats itself would send it."""
        columns = "body, headers, queue_name, created_at, available_at"
        numbers = ",".join(f"({n})" for n in range(copies))
        self.storage.query(
            f"INSERT INTO messenger_messages ({columns}) SELECT {columns} FROM messenger_messages "
            f"CROSS JOIN (VALUES {numbers}) AS copies"
        )

    def test_100_duplicates_and_4_workers_and_one_killed_are_one_upgrade(self):
        seed = int.from_bytes(os.urandom(4), "big")
        chance = random.Random(seed)
        self.run_program("seed")
        self.run_program("withdraw", "complete", "2")
        self.copy_message(99)
        workers = [self.start_worker("--concurrency", "2") for _ in range(4)]
        victim = chance.choice(workers)
        try:
            self.wait_until_it_handled(victim, chance.randint(0, 20))
            victim.send_signal(signal.SIGKILL)
            victim.wait(DEADLINE)
            # The other three do it all, with what the victim held.
            self.wait_until(self.none_waits)
        finally:
            for worker in workers:
                if worker.poll() is None:
                    worker.send_signal(signal.SIGTERM)
            for worker in workers:
                worker.communicate(timeout=DEADLINE)
        with self.subTest(seed=seed):
            others = [worker.returncode for worker in workers if worker is not victim]
            self.assertEqual((victim.returncode, others), (-signal.SIGKILL, [0] * 3))
            (upgrade,) = self.json("history")
            self.assertEqual(
                (upgrade["distributorId"], upgrade["previousLevel"], upgrade["newLevel"]),
                (1, "Starter", "Silver"),
            )
            self.assertEqual(upgrade["triggeringWithdrawLedgerId"], 2)
            self.assertEqual(self.json("distributor", "show", "1")["level"], "Silver")
            self.assertEqual(self.storage.query("SELECT count(*) FROM failed_messages"), [["0"]])

    def none_waits(self):
        return self.storage.query(
            "SELECT count(*) FROM messenger_messages WHERE queue_name = 'async_messages'"
        ) == [["0"]]

    def wait_until_it_handled(self, worker, count):
        """It writes a line for each check, after one when it begins; or the others were quicker."""
        pipe = worker.stderr.fileno()
        lines = 0
        while lines < 1 + count and not (lines > 0 and self.none_waits()):
            if select.select([pipe], [], [], 0.05)[0]:
                lines += os.read(pipe, 4096).count(b"\n")

    def wait_until(self, condition):
        deadline = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it never came")
            time.sleep(0.05)


class OnSqlite(Duplicates, unittest.TestCase):
    make_storage = SqliteStorage


class OnPostgres(Duplicates, unittest.TestCase):
    make_storage = PostgresStorage
