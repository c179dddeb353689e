"""What `errand` says of servers and leaves on them. Needs those of tests/servers."""

import unittest

from redis_program import RedisTest
from shared_databases import PostgresDatabase

NEVER_SET_UP = "the storage has no Errand tables yet"
REMEDY = "run `errand setup`, or submit a task, to create them"


class NeverSetUp(RedisTest):
    def assert_told_alike(self, dsn):
        for arguments in (["stats"], ["list"], ["queue", "list"], ["failed", "list"], ["clean"]):
            ended = self.errand(*arguments, "--dsn", dsn, expect=6)
            self.assertEqual(ended.stderr, f"errand: {NEVER_SET_UP}; {REMEDY}\n")
        findings = self.json("doctor", "--dsn", dsn, expect=1)["findings"]
        self.assertIn(
            {"severity": "problem", "subject": "storage", "detail": NEVER_SET_UP, "fix": REMEDY},
            findings,
        )
        self.assertIn("server", [finding["subject"] for finding in findings])

    def test_redis(self):
        self.assert_told_alike(f"redis+unix://{self.socket}?prefix={self.prefix}")
        self.assertEqual(self.redis("--scan", "--pattern", self.prefix + "*"), [])

    def test_postgresql(self):
        database = PostgresDatabase(self.directory)
        self.addCleanup(database.drop)
        self.assert_told_alike(database.address)


class OnRedis(RedisTest):
    def test_all_that_would_make_a_server_durable_is_advised_at_once(self):
        dsn = f"redis+unix://{self.socket}?prefix={self.prefix}"
        remedy = "set appendonly to yes, set appendfsync to always"
        (finding,) = self.json("doctor", "--dsn", dsn + "&durable=1", expect=6)["findings"]
        self.assertEqual(finding["fix"], remedy)
        self.assertIn("appendonly is no", finding["detail"])
        self.assertIn("appendfsync is everysec", finding["detail"])
        self.assertNotIn("set ", finding["detail"])

        self.errand("setup", "--dsn", dsn)
        (warning,) = [
            finding
            for finding in self.json("doctor", "--dsn", dsn)["findings"]
            if finding["subject"] == "persistence"
        ]
        self.assertTrue(warning["fix"].startswith(remedy + ", or accept the loss"), warning)

    def test_bench_leaves_nothing_of_its_queues(self):
        for record in ("shared", "compact"):
            prefix = f"{self.prefix}:{record}:"
            dsn = f"redis+unix://{self.socket}?prefix={prefix}&record={record}"
            self.errand("setup", "--dsn", dsn)
            before = set(self.redis("--scan", "--pattern", prefix + "*"))
            self.errand("bench", "--tasks", "100", "--rounds", "1", "--dsn", dsn)
            after = set(self.redis("--scan", "--pattern", prefix + "*"))
            self.assertEqual(after - before, {prefix + "errand:seq"}, "it numbers all tasks ever")


if __name__ == "__main__":
    unittest.main()
