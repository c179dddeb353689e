import os
import signal
import time
import unittest

from server_harness import PATIENCE, ServerCase

TASKS = 2000


class WorkerStopped(ServerCase):
    def test_a_worker_stopped_past_its_lease_changes_nothing_that_its_successor_did(self):
        first = self.start_worker("--lease", "1s")
        submitter = self.start_submitter(TASKS, 1)
        end = time.monotonic() + PATIENCE
        # In the middle of its work: it holds some.
        while True:
            os.kill(first.pid, signal.SIGSTOP)
            if self.count("running") > 0:
                break
            os.kill(first.pid, signal.SIGCONT)
            self.assertLess(time.monotonic(), end, "the worker never held a task")
        self.start_worker("--lease", "1s")
        self.assertEqual(submitter.wait(timeout=60), 0)
        self.wait_for_the_end(TASKS)
        os.kill(first.pid, signal.SIGCONT)
        while "taken over" not in (self.directory / "log-0").read_text():
            self.assertLess(time.monotonic(), end, "the first worker did not notice")
            time.sleep(0.05)
        self.check_the_ledger(TASKS)


if __name__ == "__main__":
    unittest.main()
