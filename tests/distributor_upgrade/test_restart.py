"""An ordinary restart of PostgreSQL: no check spends an attempt on connections of the old server."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from distributors_program import DEADLINE, PROGRAM

SERVER = pathlib.Path(__file__).resolve().parents[1] / "servers" / "postgres"


class Restart(unittest.TestCase):
    def setUp(self):
        # A socket's path has little room.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="errand_restart_", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.server = self.directory / "server"
        self.directory.chmod(0o755)
        self.addCleanup(subprocess.run, [SERVER, "stop", self.server])
        subprocess.run([SERVER, "start", self.server], check=True)
        self.dsn = f"postgresql:///postgres?user=errand&host={self.server}"

    def run_program(self, *arguments):
        return subprocess.run(
            [PROGRAM, "--dsn", self.dsn, *arguments],
            capture_output=True, encoding="utf-8", timeout=DEADLINE, check=True,
        ).stdout

    def sql(self, statement):
        command = ["psql", "-h", self.server, "-U", "errand", "-d", "postgres", "-qAt", "-c", statement]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.strip()

    def wait_until(self, statement, expected):
        deadline = time.monotonic() + DEADLINE
        while (found := self.sql(statement)) != expected:
            self.assertLess(time.monotonic(), deadline, f"{statement}: {found}")
            time.sleep(0.05)

    def test_the_next_check_after_a_restart_is_handled_at_once(self):
        self.run_program("setup")
        self.run_program("seed")
        # Several at once, which leave several connections idle.
        columns = "body, headers, queue_name, created_at, available_at"
        self.run_program("withdraw", "complete", "4")
        self.sql(
            f"INSERT INTO messenger_messages ({columns}) SELECT {columns} FROM messenger_messages, "
            "generate_series(1, 400)"
        )
        worker = subprocess.Popen(
            [PROGRAM, "--dsn", self.dsn, "worker", "--concurrency", "8"],
            stderr=subprocess.PIPE, encoding="utf-8",
        )
        self.addCleanup(worker.kill)
        waiting = "SELECT count(*) FROM messenger_messages WHERE queue_name = 'async_messages'"
        self.wait_until(waiting, "0")
        self.restart_server()
        self.run_program("withdraw", "complete", "2")
        self.wait_until("SELECT count(*) FROM distributor_level_upgrade_history WHERE "
                        "triggering_withdraw_ledger_id = 2", "1")
        self.wait_until(waiting, "0")
        worker.send_signal(signal.SIGTERM)
        said = worker.communicate(timeout=DEADLINE)[1]
        self.assertIn("402 handled, 0 failed, 0 to be tried again", said)

    def restart_server(self):
        """As pg_ctl -m fast restart does it."""
        process_id = self.server / "data" / "postmaster.pid"
        os.kill(int(process_id.read_text().split()[0]), signal.SIGINT)
        deadline = time.monotonic() + DEADLINE
        while process_id.exists():
            self.assertLess(time.monotonic(), deadline, "the server did not stop")
            time.sleep(0.05)
        subprocess.run([SERVER, "restart", self.server], check=True)
