"""Messages in Redis streams, as people use them from a shell. Needs the server of tests/servers."""

import json
import subprocess
import unittest

from redis_program import RedisTest


class Streams(RedisTest):
    def setUp(self):
        super().setUp()
        self.dsn = self.stream("async")

    def stream(self, name, options=""):
        return f"redis://127.0.0.1:{self.port}/{self.prefix}{name}?dbindex=0{options}"

    def length(self, name):
        return int(self.redis("XLEN", self.prefix + name)[0])

    def test_a_message_is_sent_and_handled(self):
        self.errand("send", "App\\Message\\Mail", '{"to":"a@b.c"}', "--transport", self.dsn)
        entry = self.redis("XRANGE", self.prefix + "async", "-", "+")
        self.assertEqual(entry[1], "message")
        stored = json.loads(entry[2])
        self.assertEqual(stored["body"], '{"to":"a@b.c"}')
        self.assertEqual(stored["headers"]["type"], "App\\Message\\Mail")
        self.assertEqual(stored["headers"]["Content-Type"], "application/json")
        self.drain("--transport", self.dsn, "--exec", "App\\Message\\Mail=cat > handled.json")
        self.assertEqual((self.directory / "handled.json").read_text(), '{"to":"a@b.c"}')
        self.assertEqual(self.length("async"), 0)

    def test_a_worker_hears_of_a_message_that_another_program_adds(self):
        worker = self.start_worker(
            "--transport", self.dsn, "--limit", "1", "--exec", "X=cat > handled.json"
        )
        self.redis(
            "XADD", self.prefix + "async", "*", "message",
            '{"body":"{\\"n\\":1}","headers":{"type":"X"}}',
        )  # fmt: skip
        worker.communicate(timeout=60)
        self.assertEqual((self.directory / "handled.json").read_text(), '{"n":1}')

    def test_what_fails_goes_to_the_stream_failed_and_can_be_sent_again(self):
        configuration = {
            "transports": {
                "async": {
                    "dsn": self.dsn,
                    "retry_strategy": {"max_retries": 1, "delay": 0, "multiplier": 1},
                },
                "failed": {"dsn": self.stream("failed")},
            },
            "failure_transport": "failed",
        }
        (self.directory / "errand.json").write_text(json.dumps(configuration))
        self.errand("send", "X", '{"n":1}', "--transport", "async")
        self.drain("--transport", "async", "--exec", "X=echo no luck >&2; exit 3")
        (message,) = self.json("failed", "list", "--transport", "failed")["items"]
        self.assertEqual((message["type"], message["transport"]), ("X", "async"))
        self.assertIn("no luck", message["error"]["message"])
        shown = self.errand("failed", "show", message["id"], "--transport", "failed").stdout
        self.assertIn('{"n":1}', shown)
        self.errand("failed", "retry", message["id"], "--transport", "failed")
        self.assertEqual((self.length("failed"), self.length("async")), (0, 1))
        self.drain("--transport", "async", "--exec", "X=cat > again.json")
        self.assertEqual((self.directory / "again.json").read_text(), '{"n":1}')

    def test_without_a_configuration_failures_go_to_a_stream_beside(self):
        """Its name is `failed`: hence a database of its own."""
        dsn = f"redis+unix://{self.socket}?stream=async&dbindex=2"
        failed = f"redis+unix://{self.socket}?stream=failed&dbindex=2"
        self.redis("-n", "2", "FLUSHDB")
        self.addCleanup(self.redis, "-n", "2", "FLUSHDB")
        self.errand("send", "errand.fail", "[]", "--transport", dsn)
        self.drain("--transport", dsn)
        (message,) = self.json("failed", "list", "--transport", failed)["items"]
        retry = ("failed", "retry", message["id"], "--transport", failed)
        self.assertIn("--to", self.errand(*retry, expect=2).stderr)
        self.errand(*retry, "--to", dsn)
        self.assertEqual(self.redis("-n", "2", "XLEN", "async"), ["1"])

    def test_stats_setup_and_purge(self):
        self.errand("transport", "stats", self.dsn, expect=6)
        self.errand("transport", "setup", self.dsn)
        self.errand("send", "X", "--transport", self.dsn)
        self.errand("send", "X", "--transport", self.dsn, "--delay", "90s")
        (stats,) = self.json("transport", "stats", self.dsn)
        self.assertEqual((stats["ready"], stats["delayed"], stats["inFlight"]), (1, 1, 0))
        purged = self.errand("transport", "purge", self.dsn, "--yes").stdout
        self.assertEqual(purged, f"Removed 2 messages from {self.prefix}async\n")

    def test_a_killed_worker_loses_nothing(self):
        """It is killed when the handler has done its work, before the message is settled."""
        dsn = self.stream("async", "&redeliver_timeout=1")
        self.errand("send", "X", '{"n":1}', "--transport", dsn)
        handler = "X=cat >> effects; echo >> effects; [ -e killed ] || { touch killed; kill -9 $PPID; }"
        self.errand("worker", "--transport", dsn, "--exec", handler, expect=-9)
        self.assertEqual(self.length("async"), 1)
        self.wait_until(
            lambda: self.drain("--transport", dsn, "--exec", handler) or self.length("async") == 0,
            "the message was never delivered again",
        )
        self.assertEqual((self.directory / "effects").read_text(), '{"n":1}\n' * 2)

    def test_workers_that_are_killed_while_messages_fail_and_are_tried_again_lose_none(self):
        """Each message fails once; the handlers of some kill their worker in either attempt."""
        count = 60
        configuration = {
            "transports": {
                "async": {
                    "dsn": self.stream("async", "&redeliver_timeout=1"),
                    "retry_strategy": {"max_retries": 9, "delay": 0, "multiplier": 1},
                },
                "failed": {"dsn": self.stream("failed")},
            },
            "failure_transport": "failed",
        }
        (self.directory / "errand.json").write_text(json.dumps(configuration))
        for n in range(count):
            self.errand("send", "X", str(n), "--transport", "async")
        (self.directory / "handle").write_text(
            "n=$(cat)\n"
            'if [ $((n % 15)) = 7 ] && ! [ -e "killed$n.$ERRAND_ATTEMPT" ]; then\n'
            '  touch "killed$n.$ERRAND_ATTEMPT"; kill -9 $PPID\n'
            "fi\n"
            '[ "$ERRAND_ATTEMPT" -gt 1 ] || exit 1\n'
            'touch "done$n"\n'
        )
        command = [self.program, "worker", "--drain", "--transport", "async"]
        command += ["--exec", "X=exec sh handle"]  # its parent is the worker

        def is_done():
            subprocess.run(
                command, cwd=self.directory, env=self.environment, capture_output=True, timeout=60
            )
            return self.length("async") == 0

        self.wait_until(is_done, "some messages never came to their end")
        done = {path.name for path in self.directory.glob("done*")}
        self.assertEqual(done, {f"done{n}" for n in range(count)})
        self.assertEqual(len(list(self.directory.glob("killed*"))), 8, "each of four, twice")
        self.assertEqual(self.length("failed"), 0)

    def test_a_handler_that_takes_longer_than_the_redeliver_timeout_keeps_its_message(self):
        dsn = self.stream("async", "&redeliver_timeout=3")
        self.errand("send", "X", "{}", "--transport", dsn)
        slow = self.start_worker(
            "--transport", dsn, "--limit", "1", "--exec", "X=echo >> began; sleep 9"
        )
        self.wait_until((self.directory / "began").exists, "the handler never began")
        while slow.poll() is None:
            self.drain("--transport", dsn, "--exec", "X=echo >> began")
        self.assertEqual((self.directory / "began").read_text(), "\n")

    def test_the_number_of_a_database_is_not_taken_for_a_stream(self):
        dsn = f"redis://127.0.0.1:{self.port}/0"
        explained = self.errand("send", "X", "--transport", dsn, expect=2).stderr
        self.assertIn("dbindex=0", explained)


if __name__ == "__main__":
    unittest.main()
