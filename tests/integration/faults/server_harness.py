"""A server of the test's own, workers on it, and the ledger they keep outside of it."""

import collections
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from fault_servers import SERVERS

PROGRAM = os.environ["ERRAND_LEDGER_PROGRAM"]
ERRAND = os.environ["ERRAND_BIN"]
PATIENCE = 120.0


class ServerCase(unittest.TestCase):
    def setUp(self):
        # A socket's path has little room.
        directory = tempfile.mkdtemp(prefix="errand-sv-", dir="/tmp")
        os.chmod(directory, 0o755)
        self.server = SERVERS[os.environ["ERRAND_FAULTY_SERVER"]](directory)
        self.addCleanup(self.server.stop)
        self.server.start()
        directory = tempfile.TemporaryDirectory(prefix="errand-ledger-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.ledger = self.directory / "ledger"
        self.dsn = self.server.dsn()
        self.processes = []
        self.addCleanup(self.kill_all)
        subprocess.run([ERRAND, "setup"], env=self.environment(), check=True, capture_output=True)

    def environment(self, dsn=None):
        return dict(os.environ, ERRAND_DSN=dsn or self.dsn)

    def kill_all(self):
        for process in self.processes:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
                process.kill()
                process.wait()

    def start(self, *arguments, dsn=None):
        log = open(self.directory / f"log-{len(self.processes)}", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=log, stderr=log,
                                   env=self.environment(dsn))
        self.processes.append(process)
        return process

    def start_worker(self, *options, dsn=None):
        return self.start("work", self.ledger, "--concurrency", 4, *options, dsn=dsn)

    def submit(self, count, milliseconds):
        subprocess.run([PROGRAM, "submit", str(count), str(milliseconds), self.ledger],
                       env=self.environment(), check=True)

    def start_submitter(self, count, milliseconds, dsn=None):
        return self.start("submit", count, milliseconds, self.ledger, dsn=dsn)

    def count(self, *statuses):
        counts = self.server.counts() or {}
        return sum(counts.get(status, 0) for status in statuses)

    def assert_under_load(self):
        self.assertGreater(self.count("pending", "running", "retrying"), 0,
                           "all was done before: the test proves nothing")

    def wait_for_the_end(self, count):
        end = time.monotonic() + PATIENCE
        while self.count("completed") != count:
            if time.monotonic() > end:
                logs = "".join(path.read_text()[-2000:] for path in self.directory.glob("log-*"))
                self.fail(f"not all tasks ended: {self.server.counts()}\n{logs}")
            time.sleep(0.1)

    def check_the_ledger(self, count):
        """None lost, none settled twice, and no stale write accepted: what the storage holds is
        what the one attempt said whose settling it acknowledged."""
        submitted = set()
        settled = collections.defaultdict(list)
        for line in self.ledger.read_text().splitlines():
            kind, task, *token = line.split()
            if kind == "submitted":
                submitted.add(task)
            else:
                settled[task].append(token[0])
        self.assertEqual(len(submitted), count)
        stored = self.server.results()
        self.assertEqual(set(stored), submitted)
        twice = {task: tokens for task, tokens in settled.items() if len(tokens) > 1}
        self.assertEqual(twice, {})
        wrong = {task: (tokens, stored[task]) for task, tokens in settled.items()
                 if tokens != [stored[task]]}
        self.assertEqual(wrong, {})
        # Acknowledgements may be lost on their way; then they are not in the ledger.
        return len(settled)
