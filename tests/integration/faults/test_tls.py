import json
import subprocess
import tempfile
import unittest

from server_harness import ERRAND, ServerCase
from tls_proxy import TlsProxy, make_certificate

TASKS = 200


class Tls(ServerCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="errand-tls-")
        self.addCleanup(directory.cleanup)
        self.certificate, key = make_certificate(directory.name)
        self.proxy = TlsProxy(self.certificate, key, self.server.directory)
        self.addCleanup(self.proxy.close)

    def dsn_to(self, host, root):
        return (f"postgresql://errand@{host}:{self.proxy.port}/postgres?sslmode=verify-full"
                f"&sslrootcert={root}&reply_timeout=5")

    def errand(self, dsn, *arguments, stdin=None):
        return subprocess.run([ERRAND, *arguments], env=self.environment(dsn), input=stdin,
                              text=True, capture_output=True, timeout=120)

    def test_answers_that_fill_tls_records_arrive(self):
        dsn = self.dsn_to("localhost", self.certificate)
        # Sizes around what libpq takes at a time, and what a record holds.
        lines = "".join(json.dumps("x" * (6000 + 97 * i)) + "\n" for i in range(TASKS))
        submitted = self.errand(dsn, "submit", "errand.echo", "--jsonl", "-", stdin=lines)
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        drained = self.errand(dsn, "worker", "--drain")
        self.assertEqual(drained.returncode, 0, drained.stderr)
        self.assertNotIn("did not answer", drained.stderr)
        self.assertEqual(self.count("completed"), TASKS)

    def test_a_server_that_is_not_who_it_should_be_is_refused(self):
        for host, root in (("127.0.0.1", self.certificate), ("localhost", "/dev/null")):
            refused = self.errand(self.dsn_to(host, root), "stats")
            self.assertEqual(refused.returncode, 6, refused.stderr)
            self.assertIn("cannot connect to PostgreSQL", refused.stderr)


if __name__ == "__main__":
    unittest.main()
