import time
import unittest

from server_harness import ServerCase

TASKS = 50000


class ConnectionsTerminated(ServerCase):
    def test_all_connections_cut_every_second_lose_and_double_nothing(self):
        self.submit(TASKS, 10)
        workers = [self.start_worker("--lease", "10s") for _ in range(4)]
        for _ in range(20):
            time.sleep(1)  # the rhythm of the cutting, not a wait for anything
            self.assert_under_load()
            self.server.cut_connections()
        self.wait_for_the_end(TASKS)
        self.check_the_ledger(TASKS)
        for worker in workers:
            self.assertIsNone(worker.poll(), "a worker gave up")
            worker.terminate()
        for worker in workers:
            self.assertEqual(worker.wait(timeout=30), 0)


if __name__ == "__main__":
    unittest.main()
