import os
import random
import re
import signal
import time
import unittest

from harness import ChaosCase

LEASE = 2.0


class KilledWorkers(ChaosCase):
    """20,000 tasks, 4 worker processes, one of them killed with -9 every second for 30 s."""

    def test_every_task_ends_exactly_once_and_those_of_the_dead_run_again_in_time(self):
        chance = random.Random(20251201)
        ids = self.submit_many(20000, "errand.sleep", {"ms": 12})
        options = ("--lease", f"{LEASE}s", "--concurrency", "2", "--log-level", "warning")
        alive = [self.start_worker(*options) for _ in range(4)]
        killed = {}  # pid: when
        for _ in range(30):
            time.sleep(1)  # the rhythm of the killing, not a wait for anything
            victim = alive.pop(chance.randrange(len(alive)))
            victim.kill()
            victim.wait()
            killed[victim.pid] = time.time()
            alive.append(self.start_worker(*options))
        self.wait_until(lambda: self.open_tasks() == 0, "all tasks end", 180)
        self.assert_each_ended_once(ids)

        lost = rerun = suspected = 0
        slowest = 0.0
        for task, worker, at in self.query(
                "SELECT task_id, worker, at FROM ledger WHERE status = 'running' ORDER BY at"):
            pid = int(re.match(r".*:(\d+):", worker).group(1))
            if pid not in killed:
                continue
            ended = self.query(
                "SELECT 1 FROM ledger WHERE task_id = ? AND worker = ? AND status = 'completed'",
                task, worker)
            if ended:
                continue
            lost += 1
            again = self.query(
                "SELECT min(at) FROM ledger WHERE task_id = ? AND status = 'running' AND at > ?",
                task, at)[0][0]
            if again is None:
                # Where tasks wait long in workers' hands, one may lose three of them by bad luck.
                attempts = self.query("SELECT crashes, status FROM async_tasks WHERE task_id = ?",
                                      task)
                self.assertEqual(attempts, [(3, "failed")], f"{task} was not run again")
                suspected += 1
                continue
            # A lease lasts from the last heartbeat, which came before the kill.
            slowest = max(slowest, again - killed[pid])
            rerun += 1
        self.assertLessEqual(suspected, len(killed), "a worker holds one suspect at a time")
        self.assertGreater(rerun, 0, "no kill hit a running task: the test proves nothing")
        self.assertLess(slowest, LEASE + 1.0, f"{rerun} tasks ran again, the slowest too late")
        print(f"\n{len(killed)} workers killed, {lost} tasks lost, {rerun} of them run again, "
              f"the slowest {slowest:.2f} s after the kill (lease {LEASE} s)")


if __name__ == "__main__":
    unittest.main()
