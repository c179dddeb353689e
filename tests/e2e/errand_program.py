"""Runs the built `errand` on a storage of its own for each test."""

import json
import os
import pty
import select
import subprocess
import time

from built_program import DEADLINE, ProgramTest, wait_for_text

UNKNOWN_ID = "0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10"


class ErrandTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.database = self.directory / "tasks.db"
        self.environment["ERRAND_DSN"] = f"sqlite:{self.database}"

    @property
    def program(self):
        return os.environ["ERRAND_BIN"]

    def errand(self, *arguments, **options):
        return self.run_to_end(*arguments, **options)

    def json(self, *arguments, **options):
        return json.loads(self.errand(*arguments, "--json", **options).stdout)

    def submit(self, *arguments, **options):
        return self.errand("submit", *arguments, **options).stdout.strip()

    def drain(self, *arguments):
        """Runs everything that is due."""
        self.errand("worker", "--drain", *arguments)

    def fail_a_task(self, message="boom", *arguments):
        task = self.submit(
            "errand.fail", json.dumps({"message": message}), "--max-retries", "0", *arguments
        )
        self.drain()
        return task

    def start_worker(self, *arguments):
        """A worker that has begun to serve."""
        worker = self.start("worker", *arguments)
        wait_for_text(worker.stderr, "serves")
        return worker

    def wait_for_status(self, task, status):
        self.wait_until(
            lambda: self.json("status", task)["status"] == status, f"{task} never became {status}"
        )


class Terminal:
    """A program on a pseudo-terminal of 100 columns, as a person sees it."""

    def __init__(self, test, *arguments, **environment):
        self.test = test
        self.shown = ""
        self.bytes = b""
        self.master, self.slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.settings_before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [test.program, *arguments],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            cwd=test.directory,
            env={**test.environment, "TERM": "xterm-256color", **environment},
            start_new_session=True,
        )
        test.addCleanup(self.close)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for descriptor in (self.master, self.slave):
            os.close(descriptor)

    def _read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        self.bytes += os.read(self.master, 65536)
        self.shown = self.bytes.decode("utf-8", "replace")
        return True

    def wait_for(self, text):
        deadline = time.monotonic() + DEADLINE
        while text not in self.shown:
            self._read(max(0.0, deadline - time.monotonic()))
            if time.monotonic() > deadline:
                self.test.fail(f"did not show {text!r}: {self.shown!r}")

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self, expect=0):
        """Waits for the end of the program and returns all that it showed."""
        deadline = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            self._read(0.05)
            if time.monotonic() > deadline:
                self.test.fail(f"did not end: {self.shown!r}")
        while self._read(0):
            pass
        self.test.assertEqual(self.process.returncode, expect, self.shown)
        return self.shown
