import json
import unittest

from harness import ChaosCase


class PoisonTask(ChaosCase):
    def test_a_task_that_crashes_three_workers_fails_and_the_others_go_on(self):
        # A sanitizer would turn the crash into an exit.
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
            self.environment[name] = self.environment.get(name, "") + ":handle_segv=0"
        # The command's parent is the worker itself.
        options = ("--exec", "work.crash=kill -SEGV $PPID; sleep 10", "--lease", "500ms",
                   "--concurrency", "2", "--log-level", "warning")
        poison = self.errand("submit", "work.crash", "{}").stdout.strip()
        others = self.submit_many(200, "errand.sleep", {"ms": 5})
        crashes = 0
        worker = self.start_worker(*options)

        def poison_ended():
            nonlocal worker, crashes
            if worker.poll() is not None:
                self.assertEqual(worker.returncode, -11)
                crashes += 1
                worker = self.start_worker(*options)
            return self.query("SELECT 1 FROM async_tasks WHERE task_id = ? AND status = 'failed'",
                              poison)

        self.wait_until(poison_ended, "the poison task fails")
        self.assertEqual(crashes, 3)
        failed = self.errand("wait", poison, check=False)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("errand::WorkerLost", failed.stderr)
        record = json.loads(self.errand("status", poison, "--json").stdout)
        self.assertEqual(json.loads(record["error"])["class"], "errand::WorkerLost")
        self.assertEqual(record["crashes"], 3)
        self.assertEqual(len(record["history"]), 3)

        self.wait_until(lambda: self.open_tasks() == 0, "the other tasks end")
        self.assert_each_ended_once([poison, *others])
        completed = self.query("SELECT count(*) FROM async_tasks WHERE status = 'completed'")
        self.assertEqual(completed, [(200,)])


if __name__ == "__main__":
    unittest.main()
