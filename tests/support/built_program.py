"""Runs one of the built programs, in a directory of its own for each test."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

DEADLINE = 120  # seconds; a limit for what hangs, never a pause

HIDDEN = ("ERRAND_DSN", "MESSENGER_TRANSPORT_DSN", "NO_COLOR", "COLUMNS")


class ProgramTest(unittest.TestCase):
    """Subclasses have a `program`, and add to its `environment`."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="errand-e2e-"))
        # A server that a test has in there may take a moment to be gone.
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in HIDDEN and not name.startswith("ERRAND_INVOICES_")
        }

    def run_to_end(self, *arguments, expect=0, **options):
        """Runs a command; it must end with the exit code `expect`."""
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("env", self.environment)
        ended = subprocess.run(
            [self.program, *arguments],
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=DEADLINE,
            cwd=self.directory,
            check=False,
            **options,
        )
        self.assertEqual(
            ended.returncode, expect, f"{arguments}\nout: {ended.stdout}\nerr: {ended.stderr}"
        )
        return ended

    def start(self, *arguments, **options):
        """Starts a command that goes on; it is ended with the test."""
        options.setdefault("env", self.environment)
        process = subprocess.Popen(
            [self.program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.directory,
            **options,
        )
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def stop(self, process, number=signal.SIGTERM):
        """Sends the signal and returns the exit code, and what the process still said."""
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)
        return process.returncode, out, err

    def wait_until(self, holds, what):
        """Looks until it holds; what it looks at takes time enough."""
        deadline = time.monotonic() + DEADLINE
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)


def wait_for_text(stream, text):
    """Reads lines until one holds `text`; returns it."""
    seen = []

    def read():
        for line in iter(stream.readline, ""):
            seen.append(line)
            if text in line:
                return

    # select() would not see the lines that a readline() has taken in with the one before.
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(DEADLINE)
    if reader.is_alive() or not seen or text not in seen[-1]:
        raise AssertionError(f"{text!r} did not come: {seen}")
    return seen[-1]
