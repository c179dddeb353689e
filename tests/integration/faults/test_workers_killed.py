import random
import time
import unittest

from server_harness import ServerCase

TASKS = 10000


class WorkersKilled(ServerCase):
    def test_workers_killed_under_load_lose_and_double_nothing(self):
        chance = random.Random(20251201)
        options = ("--lease", "2s")
        alive = [self.start_worker(*options) for _ in range(4)]
        submitter = self.start_submitter(TASKS, 10)
        for _ in range(10):
            time.sleep(0.5)  # the rhythm of the killing, not a wait for anything
            self.assert_under_load()
            victim = alive.pop(chance.randrange(len(alive)))
            victim.kill()
            victim.wait()
            alive.append(self.start_worker(*options))
        self.assertEqual(submitter.wait(timeout=120), 0)
        self.wait_for_the_end(TASKS)
        self.check_the_ledger(TASKS)


if __name__ == "__main__":
    unittest.main()
