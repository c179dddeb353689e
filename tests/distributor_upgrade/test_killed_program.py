"""The program is killed in the middle of `withdraw complete`: neither state nor message is there."""

import signal
import sqlite3
import subprocess
import time
import unittest

from distributors_program import DEADLINE, PROGRAM, Distributors, PostgresStorage, SqliteStorage


class KilledProgram(Distributors):
    def test_neither_state_nor_message_is_left(self):
        self.run_program("seed")
        self.make_sending_endless()
        program = subprocess.Popen(
            [PROGRAM, "withdraw", "complete", "2"], cwd=self.directory, env=self.environment
        )
        deadline = time.monotonic() + DEADLINE
        while not self.is_sending():
            self.assertIsNone(program.poll(), "it ended")
            self.assertLess(time.monotonic(), deadline, "it never sent")
            time.sleep(0.05)
        program.send_signal(signal.SIGKILL)
        program.wait(DEADLINE)
        self.end_sending()
        self.assertEqual(
            self.storage.query("SELECT status FROM withdraw_ledger WHERE id = 2"), [["pending"]]
        )
        self.assertEqual(self.storage.query("SELECT count(*) FROM messenger_messages"), [["0"]])
        self.run_program("withdraw", "complete", "2")
        self.assertEqual(self.storage.query("SELECT count(*) FROM messenger_messages"), [["1"]])


class OnSqlite(KilledProgram, unittest.TestCase):
    make_storage = SqliteStorage
    locked = 0

    def make_sending_endless(self):
        # SQLite cannot sleep, but counting seven people to the power of twenty takes as long.
        crowd = ", ".join(f"distributor d{n}" for n in range(20))
        self.storage.query(
            "CREATE TRIGGER endless BEFORE INSERT ON messenger_messages "
            f"BEGIN SELECT count(*) FROM {crowd}; END"
        )

    def is_sending(self):
        """For a second nobody else could write: opening the transport takes the lock shortly."""
        connection = sqlite3.connect(self.storage.file, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            self.locked = 0
        except sqlite3.OperationalError:
            self.locked += 1
        finally:
            connection.close()
        return self.locked >= 20

    def end_sending(self):
        self.storage.query("DROP TRIGGER endless")


class OnPostgres(KilledProgram, unittest.TestCase):
    make_storage = PostgresStorage

    def make_sending_endless(self):
        self.storage.query(
            "CREATE FUNCTION endless() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$"
        )
        self.storage.query(
            "CREATE TRIGGER endless BEFORE INSERT ON messenger_messages "
            "FOR EACH ROW EXECUTE FUNCTION endless()"
        )

    sleeping = "pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"

    def is_sending(self):
        return self.storage.query(f"SELECT count(*) FROM {self.sleeping}") == [["1"]]

    def end_sending(self):
        # The server would notice only after the sleep that nobody waits for the answer.
        self.storage.query(f"SELECT pg_terminate_backend(pid) FROM {self.sleeping}")
        self.storage.query("DROP TRIGGER endless ON messenger_messages")
