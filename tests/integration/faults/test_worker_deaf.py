import tempfile
import time
import unittest

from cutting_proxy import DeafeningProxy
from server_harness import ServerCase


class WorkerDeaf(ServerCase):
    """The connection on which tasks are handed to a worker is dead, and nobody closes it."""

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="errand-px-", dir="/tmp")
        self.addCleanup(directory.cleanup)
        self.proxy = DeafeningProxy(directory.name, self.server.directory)
        self.addCleanup(self.proxy.close)
        self.proxied = self.server.dsn(directory.name)

    def wait_until(self, condition, what, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def test_what_it_was_handed_runs_long_before_its_lease_ends(self):
        self.start_worker("--lease", "10m", dsn=self.proxied)
        self.wait_until(lambda: self.server.cli("ZCARD errand:standby:default\n") == ["1"],
                        "the worker does not stand by")
        self.proxy.deafen()
        self.submit(1, 1)
        self.assertEqual(self.count("running", "completed"), 1, "it was handed to nobody")
        self.assertEqual(self.count("completed"), 0, "the worker heard of it: the test proves nothing")
        self.wait_until(lambda: self.count("completed") == 1, "nobody looks what was handed over")
        self.check_the_ledger(1)


if __name__ == "__main__":
    unittest.main()
