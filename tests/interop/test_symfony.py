"""A real Symfony Messenger on the other end: PHP and Errand share a queue of messages."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from shared_databases import PostgresDatabase, SqliteDatabase

DEADLINE = 120  # seconds; a limit for what hangs, never a pause
PEER = pathlib.Path(__file__).parent / "peer.php"
SMS = "App\\Message\\Sms"
TEXT = '+49 "é" 发票'


class Table:
    """`messenger_messages` in a database; a class below says in which."""

    def make_due(self):
        self.query("UPDATE messenger_messages SET available_at = created_at")

    def count(self):
        return int(self.query("SELECT count(*) FROM messenger_messages")[0][0])

    def bodies(self):
        return [body for (body,) in self.query("SELECT body FROM messenger_messages")]


class SqliteStorage(Table, SqliteDatabase):
    shared_messages = 5000

    def dsn(self, queue, options=""):
        return f"{self.address}?queue_name={queue}{options}"


class PostgresStorage(Table, PostgresDatabase):
    shared_messages = 5000

    def dsn(self, queue, options=""):
        return f"{self.address}&queue_name={queue}{options}"


class RedisStorage:
    """Streams, in a database of the server that no other test uses."""

    shared_messages = 5000
    database = 1

    def __init__(self, directory):
        self.server = pathlib.Path(os.environ["ERRAND_TEST_SERVERS"] + "-redis")
        self.port = int((self.server / "port").read_text())
        self.php = {
            "driver": "redis",
            "host": "127.0.0.1",
            "port": self.port,
            "database": self.database,
        }
        self.redis("FLUSHDB")

    def redis(self, *command):
        """The reply: its texts, a line each."""
        words = ["redis-cli", "-s", str(self.server / "redis.sock"), "-n", str(self.database)]
        ended = subprocess.run(
            [*words, *command], capture_output=True, encoding="utf-8", check=True
        )
        return ended.stdout.splitlines()

    def dsn(self, queue, options=""):
        return f"redis://127.0.0.1:{self.port}/{queue}?dbindex={self.database}{options}"

    def keys(self, kind):
        return [key for key in self.redis("--scan") if self.redis("TYPE", key) == [kind]]

    def make_due(self):
        a_moment_ago = str(int(time.time() * 1000) - 1000)  # PHP takes fewer digits for later
        for key in self.keys("zset"):
            for member in self.redis("ZRANGE", key, "0", "-1"):
                self.redis("ZADD", key, "XX", a_moment_ago, member)

    def count(self):
        lengths = [self.redis("XLEN", key) for key in self.keys("stream")]
        lengths += [self.redis("ZCARD", key) for key in self.keys("zset")]
        return sum(int(length) for (length,) in lengths)

    def bodies(self):
        bodies = []
        for key in self.keys("stream"):
            for line in self.redis("XRANGE", key, "-", "+"):
                # PHP has serialized the text: s:LENGTH:"TEXT";
                if wrapped := re.fullmatch(r's:\d+:"(.*)";', line):
                    line = wrapped[1]
                if line.startswith("{"):
                    bodies.append(json.loads(line)["body"])
        return bodies

    def drop(self):
        self.redis("FLUSHDB")


class Interop:
    """The tests; a class below gives each storage its turn."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="errand_interop_"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.storage = self.make_storage(self.directory)
        self.addCleanup(self.storage.drop)
        self.transport = self.storage.dsn("async")
        self.failed = self.storage.dsn("failed")
        (self.directory / "errand.json").write_text(
            json.dumps(
                {
                    "transports": {
                        "async": {
                            "dsn": self.transport,
                            "retry_strategy": {"max_retries": 2, "delay": 0, "multiplier": 1},
                        },
                        "failed": {"dsn": self.failed},
                    },
                    "failure_transport": "failed",
                }
            )
        )

    def php_command(self, command, **options):
        return ["php", str(PEER), command, json.dumps({"connection": self.storage.php, **options})]

    def php(self, command, **options):
        """The JSON values that the peer prints."""
        ended = subprocess.run(
            self.php_command(command, **options),
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
        )
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(ended.stderr, "")
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def errand(self, *arguments, expect=0):
        ended = subprocess.run(
            [os.environ["ERRAND_BIN"], *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
            cwd=self.directory,
        )
        self.assertEqual(ended.returncode, expect, ended.stdout + ended.stderr)
        return ended.stdout

    def drain(self, command="""printf '%s\\n' "$(cat)" >> handled""", *more):
        """Runs the C++ worker until nothing is due; returns what its handler has got so far."""
        self.errand("worker", "--drain", "--transport", "async", "--exec", f"{SMS}={command}", *more)
        handled = self.directory / "handled"
        if not handled.exists():
            return []
        return [json.loads(line) for line in handled.read_text().splitlines()]

    def stats(self, transport="async"):
        (stats,) = json.loads(self.errand("transport", "stats", transport, "--json"))
        return stats

    def test_php_dispatches_and_errand_handles(self):
        self.php("dispatch", count=3)
        handled = self.drain()
        self.assertEqual(sorted(message["n"] for message in handled), [1, 2, 3])
        self.assertEqual({message["to"] for message in handled}, {TEXT})
        self.assertEqual(self.storage.count(), 0)

    def test_errand_sends_and_php_handles(self):
        for n in (1, 2, 3):
            self.errand("send", SMS, json.dumps({"to": TEXT, "n": n}), "--transport", "async")
        handled = self.php("consume")
        self.assertEqual(sorted(message["n"] for message in handled), [1, 2, 3])
        self.assertEqual({message["to"] for message in handled}, {TEXT})
        self.assertEqual(self.storage.count(), 0)

    def test_delayed_messages_wait_on_both_sides(self):
        self.errand("transport", "setup", "async")
        self.php("dispatch", delay=90_500)
        self.errand("send", SMS, '{"to":"x","n":7}', "--transport", "async", "--delay", "90s")
        self.assertEqual(self.drain(), [])
        self.assertEqual(self.php("consume"), [])
        self.assertEqual((self.stats()["ready"], self.stats()["delayed"]), (0, 2))
        self.storage.make_due()
        self.assertEqual(len(self.php("consume", limit=1)), 1)
        self.assertEqual(len(self.drain()), 1)

    def test_what_errand_fails_php_shows_and_retries(self):
        self.php("dispatch")
        self.drain("echo C++ says no >&2; exit 1")
        (shown,) = self.php("list", queue="failed")
        self.assertEqual((shown["class"], shown["n"], shown["from"]), (SMS, 1, "async"))
        self.assertIn("C++ says no", shown["error"])
        self.assertEqual(shown["errorClass"], "errand::CommandFailed")
        self.assertEqual((shown["retryCount"], shown["retries"]), (0, 3))
        self.assertEqual([message["n"] for message in self.php("consume", queue="failed")], [1])
        self.assertEqual(self.storage.count(), 0)

    def test_what_php_fails_errand_shows_and_retries(self):
        self.php("dispatch")
        self.php("consume", fail=True)
        listed = json.loads(self.errand("failed", "list", "--transport", "failed", "--json"))
        (message,) = listed["items"]
        self.assertEqual((message["type"], message["transport"]), (SMS, "async"))
        self.assertEqual(message["error"]["message"], "PHP says no")
        self.assertEqual(message["error"]["class"], "RuntimeException")
        self.errand("failed", "retry", message["id"], "--transport", "failed")
        self.assertEqual([one["n"] for one in self.drain()], [1])

    def test_the_name_that_php_noted_is_not_taken_for_a_queue(self):
        """Nothing here says which queue PHP means by `async`."""
        (self.directory / "errand.json").write_text("{}")
        self.php("dispatch")
        self.php("consume", fail=True)
        retry = ("failed", "retry", "--all", "--transport", self.failed)
        self.errand(*retry, expect=2)
        self.assertEqual(self.stats(self.failed)["ready"], 1)
        self.assertEqual(self.stats(self.transport)["ready"], 0)
        self.assertEqual(self.errand(*retry, "--to", self.transport), "Sent again 1 message to async\n")
        self.assertEqual([message["n"] for message in self.php("consume")], [1])

    def test_a_message_has_one_id_through_retries_and_failures_on_both_sides(self):
        body = json.dumps({"to": TEXT, "n": 1})
        sent = json.loads(self.errand("send", SMS, body, "--transport", "async", "--json"))
        self.php("consume", fail=True, retries=3, limit=1)
        self.storage.make_due()
        self.drain("echo $ERRAND_MESSAGE_ID >&2; exit 1")
        shown = self.errand("failed", "show", sent["messageId"], "--transport", "failed", "--json")
        message = json.loads(shown)
        self.assertEqual(message["messageId"], sent["messageId"])
        self.assertIn(sent["messageId"], message["error"]["message"], "the command saw it, too")

    def test_errand_counts_on_where_php_stopped(self):
        self.php("dispatch")
        self.php("consume", fail=True, retries=3, limit=1)
        self.drain("echo $ERRAND_ATTEMPT > handled")
        self.assertEqual((self.directory / "handled").read_text(), "2\n")

    def test_a_body_of_php_survives_everything(self):
        self.php("dispatch", serializer="php")
        (before,) = self.storage.bodies()
        self.assertEqual(self.drain(), [])
        listed = json.loads(self.errand("failed", "list", "--transport", "failed", "--json"))
        (message,) = listed["items"]
        self.assertEqual(message["type"], SMS)
        self.assertIn("PHP's own serialization", message["error"]["message"])
        self.errand("failed", "retry", message["id"], "--transport", "failed")
        (after,) = self.storage.bodies()
        self.assertEqual(after, before)
        handled = self.php("consume", serializer="php")
        self.assertEqual(handled, [{"to": TEXT, "n": 1}])

    def test_php_goes_on_beside_messages_that_errand_keeps(self):
        self.php("dispatch", count=2)
        keeping = self.storage.dsn("async", "&remove_after=3600")
        self.errand("worker", "--limit", "1", "--concurrency", "1", "--transport", keeping,
                    "--exec", f"{SMS}=true")  # fmt: skip
        self.assertEqual(len(self.php("consume")), 1)
        self.assertEqual(self.storage.count(), 1)
        self.assertEqual(self.php("consume"), [])

    def test_two_workers_share_a_queue_and_each_message_is_handled_once(self):
        count = self.storage.shared_messages
        self.errand("transport", "setup", "async")  # a file is turned to WAL while nobody uses it
        self.php("dispatch", count=count)
        (self.directory / "shared.json").write_text(
            json.dumps({"class_names": {"errand.echo": SMS}})
        )
        keeping = self.storage.dsn("async", "&remove_after=3600")

        def drain():
            self.errand("worker", "--drain", "--transport", keeping, "--config", "shared.json")

        php = subprocess.Popen(
            self.php_command("consume"), stdout=subprocess.PIPE, encoding="utf-8"
        )
        with php:
            first = php.stdout.readline()
            drain()
            by_php = [json.loads(line) for line in [first, *php.stdout]]
        self.assertEqual(php.returncode, 0)
        drain()  # what was delivered to neither while both looked
        # What Errand has handled it has kept, and nothing else is left.
        by_errand = [json.loads(body) for body in self.storage.bodies()]
        both = sorted(message["n"] for message in by_php + by_errand)
        self.assertEqual(both, list(range(1, count + 1)))
        self.assertEqual(self.storage.count(), len(by_errand))
        self.assertGreater(len(by_errand), 0)


class OnSqlite(Interop, unittest.TestCase):
    make_storage = SqliteStorage


class OnPostgres(Interop, unittest.TestCase):
    make_storage = PostgresStorage


class OnRedis(Interop, unittest.TestCase):
    make_storage = RedisStorage

    def test_the_default_of_old_php_leaves_messages_in_the_stream_where_errand_passes_over_them(self):
        self.php("dispatch", count=3)
        self.assertEqual(len(self.php("consume", configuration={"delete_after_ack": False})), 3)
        self.assertEqual(self.storage.count(), 3)
        self.assertEqual((self.stats()["ready"], self.stats()["inFlight"]), (0, 0))
        self.assertEqual(self.drain(), [])
        self.errand("send", SMS, '{"to":"x","n":7}', "--transport", "async")
        self.assertEqual([message["n"] for message in self.drain()], [7])

    def test_every_serializer_of_the_redis_extension_that_symfony_offers_is_read(self):
        for serializer in (0, 1, 2):  # none, PHP's, igbinary's
            with self.subTest(serializer=serializer):
                self.php("dispatch", configuration={"serializer": serializer})
                self.assertEqual(self.drain()[-1], {"to": TEXT, "n": 1})
                self.errand("send", SMS, '{"to":"x","n":7}', "--transport", "async")
                handled = self.php("consume", configuration={"serializer": serializer})
                self.assertEqual([message["n"] for message in handled], [7])

    def test_php_gets_what_a_killed_errand_held(self):
        self.errand("send", SMS, '{"to":"x","n":7}', "--transport", "async")
        killed = subprocess.run(
            [os.environ["ERRAND_BIN"], "worker", "--transport", "async",
             "--exec", f"{SMS}=kill -9 $PPID"],
            cwd=self.directory, capture_output=True, timeout=DEADLINE)  # fmt: skip
        self.assertEqual(killed.returncode, -9)
        self.assertEqual(self.php("consume"), [], "it is not his yet")
        handled = self.php("consume", configuration={"redeliver_timeout": 0, "claim_interval": 0})
        self.assertEqual([message["n"] for message in handled], [7])
        self.assertEqual(self.storage.count(), 0)


if __name__ == "__main__":
    unittest.main()
