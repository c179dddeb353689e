import os
import signal
import unittest

from harness import ChaosCase


class StoppedWorker(ChaosCase):
    def test_a_worker_stopped_past_its_lease_changes_nothing_that_its_successor_did(self):
        # The command tells which worker runs it, and waits until it is let go.
        gate = os.path.join(self.directory, "gate")
        command = ("work.who=if [ -e '%s' ]; then echo '\"second\"'; else "
                   "while [ ! -e '%s' ]; do sleep 0.05; done; echo '\"first\"'; fi" % (gate, gate))
        options = ("--exec", command, "--lease", "1s", "--concurrency", "1")
        first = self.start_worker(*options)
        task = self.errand("submit", "work.who", "{}").stdout.strip()
        running = "SELECT worker FROM async_tasks WHERE task_id = ? AND status = 'running'"
        first_name = self.wait_until(lambda: self.query(running, task), "the first worker runs it")
        self.stop_between_transactions(first)
        # The command goes on without its worker and has its answer ready.
        open(gate, "w").close()

        self.start_worker(*options)
        done = self.errand("wait", task, "--timeout", "30s")
        self.assertEqual(done.stdout.strip(), '"second"')
        before = self.query("SELECT * FROM async_tasks WHERE task_id = ?", task)

        os.kill(first.pid, signal.SIGCONT)
        self.wait_until(lambda: "taken over" in self.log_of(0), "the first worker notices")
        self.assertEqual(self.query("SELECT * FROM async_tasks WHERE task_id = ?", task), before)
        workers = self.query(
            "SELECT worker, status FROM ledger WHERE task_id = ? ORDER BY version", task)
        self.assertEqual([status for _, status in workers],
                         ["running", "retrying", "running", "completed"])
        self.assertEqual(workers[0][0], first_name[0][0])
        self.assertNotEqual(workers[2][0], first_name[0][0])
        # And it goes on working.
        again = self.errand("submit", "work.who", "{}", "--wait=30s")
        self.assertEqual(again.stdout.strip(), '"second"')


if __name__ == "__main__":
    unittest.main()
