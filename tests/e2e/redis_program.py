"""The program `errand` on the Redis server of tests/servers."""

import os
import pathlib
import subprocess

from errand_program import ErrandTest


class RedisTest(ErrandTest):
    def setUp(self):
        super().setUp()
        server = pathlib.Path(os.environ["ERRAND_TEST_SERVERS"] + "-redis")
        self.socket = server / "redis.sock"
        self.port = (server / "port").read_text().strip()
        self.prefix = self.directory.name
        self.addCleanup(self.remove_keys)

    def remove_keys(self):
        for key in self.redis("--scan", "--pattern", self.prefix + "*"):
            self.redis("DEL", key)

    def redis(self, *words):
        ended = subprocess.run(
            ["redis-cli", "-s", str(self.socket), *words],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return ended.stdout.splitlines()
