import time
import unittest

from server_harness import ServerCase

TASKS = 20000


class ServerKilled(ServerCase):
    def test_a_server_killed_under_load_loses_and_doubles_nothing(self):
        # Longer than a restart takes: a lease that runs out meanwhile counts as a lost worker.
        for _ in range(3):
            self.start_worker("--lease", "10s")
        submitter = self.start_submitter(TASKS, 10)
        for _ in range(4):
            time.sleep(1)  # the rhythm of the killing, not a wait for anything
            self.assert_under_load()
            self.server.kill()
            self.server.restart()
        self.assertEqual(submitter.wait(timeout=120), 0)
        self.wait_for_the_end(TASKS)
        acknowledged = self.check_the_ledger(TASKS)
        self.assertGreater(acknowledged, TASKS // 2)


if __name__ == "__main__":
    unittest.main()
