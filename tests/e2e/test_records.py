"""Kinds of records on Redis, as people meet them in a shell. Needs the server of tests/servers."""

import unittest

from redis_program import RedisTest


class Records(RedisTest):
    def records(self, kind):
        return f"redis+unix://{self.socket}?prefix={self.prefix}&record={kind}"

    def test_the_doctor_finds_that_the_records_are_of_another_kind(self):
        self.errand("setup", "--dsn", self.records("compact"))
        ended = self.errand("doctor", "--dsn", self.records("shared"), expect=2)
        self.assertRegex(
            ended.stdout,
            r"\A✗ storage  the tasks there are stored as compact records\n +→ write record=compact",
        )
        (finding,) = self.json("doctor", "--dsn", self.records("shared"), expect=2)["findings"]
        self.assertEqual((finding["severity"], finding["subject"]), ("problem", "storage"))
        self.assertIn("record=compact", finding["fix"])

    def test_other_commands_refuse_them_and_store_nothing(self):
        self.errand("setup", "--dsn", self.records("compact"))
        before = set(self.redis("--scan", "--pattern", self.prefix + "*"))
        ended = self.errand("submit", "errand.echo", "--dsn", self.records("shared"), expect=2)
        self.assertIn("record=compact", ended.stderr)
        self.assertEqual(set(self.redis("--scan", "--pattern", self.prefix + "*")), before)


if __name__ == "__main__":
    unittest.main()
