"""The same check a hundred times, four worker processes, one of them killed: one upgrade."""

import random
import signal
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
        self.run_program("seed")
        self.run_program("withdraw", "complete", "2")
        self.copy_message(99)
        workers = [self.start_worker("--concurrency", "2") for _ in range(4)]
        try:
            victim = random.choice(workers)
            # Its first line says that it is at work: that is when it is killed.
            victim.stderr.readline()
            victim.send_signal(signal.SIGKILL)
            victim.wait(DEADLINE)
            self.wait_until_none_waits()
        finally:
            for worker in workers:
                if worker.poll() is None:
                    worker.send_signal(signal.SIGTERM)
            for worker in workers:
                worker.communicate(timeout=DEADLINE)
        self.assertEqual([worker.returncode for worker in workers if worker is not victim], [0] * 3)
        (upgrade,) = self.json("history")
        self.assertEqual(
            (upgrade["distributorId"], upgrade["previousLevel"], upgrade["newLevel"]),
            (1, "Starter", "Silver"),
        )
        self.assertEqual(upgrade["triggeringWithdrawLedgerId"], 2)
        self.assertEqual(self.json("distributor", "show", "1")["level"], "Silver")
        self.assertEqual(self.storage.query("SELECT count(*) FROM failed_messages"), [["0"]])

    def wait_until_none_waits(self):
        """A worker that drains ends when nothing is due; held messages come back later."""
        waiting = "SELECT count(*) FROM messenger_messages WHERE queue_name = 'async_messages'"
        while self.storage.query(waiting) != [["0"]]:
            self.run_program("worker", "--drain", "--quiet")


class OnSqlite(Duplicates, unittest.TestCase):
    make_storage = SqliteStorage


class OnPostgres(Duplicates, unittest.TestCase):
    make_storage = PostgresStorage
