import tempfile
import unittest

from cutting_proxy import CuttingProxy
from server_harness import ServerCase

TASKS = 5000


class ReplyCut(ServerCase):
    """The connection breaks after the server has committed and before the client is told."""

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="errand-px-", dir="/tmp")
        self.addCleanup(directory.cleanup)
        self.proxy = CuttingProxy(directory.name, self.server.directory)
        self.addCleanup(self.proxy.close)
        self.proxied = self.server.dsn(directory.name)

    def test_nothing_is_lost_or_doubled_though_every_tenth_reply_is_cut(self):
        self.proxy.cut_after = 10
        workers = [self.start_worker("--lease", "1s", dsn=self.proxied) for _ in range(2)]
        submitter = self.start_submitter(TASKS, 1, dsn=self.proxied)
        self.assertEqual(submitter.wait(timeout=120), 0)
        self.wait_for_the_end(TASKS)
        self.check_the_ledger(TASKS)
        self.assertGreater(self.proxy.cuts, 10, "nothing was cut: the test proves nothing")
        for worker in workers:
            self.assertIsNone(worker.poll(), "a worker gave up")


if __name__ == "__main__":
    unittest.main()
