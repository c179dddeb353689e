"""A real Symfony Messenger on the other end: PHP and Errand share a table of messages."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import unittest

DEADLINE = 120  # seconds; a limit for what hangs, never a pause
PEER = pathlib.Path(__file__).parent / "peer.php"
SMS = "App\\Message\\Sms"
TEXT = '+49 "é" 发票'


class SqliteStorage:
    def __init__(self, directory):
        self.file = directory / "app.db"
        self.php = {"driver": "pdo_sqlite", "path": str(self.file)}

    def dsn(self, options):
        return f"sqlite:{self.file}?{options}"

    def execute(self, sql):
        connection = sqlite3.connect(self.file, timeout=DEADLINE)
        rows = connection.execute(sql).fetchall()
        connection.commit()
        connection.close()
        return [[str(value) for value in row] for row in rows]

    def make_due(self):
        self.execute("UPDATE messenger_messages SET available_at = created_at")

    def drop(self):
        pass


class PostgresStorage:
    def __init__(self, directory):
        self.host = os.environ["ERRAND_TEST_SERVERS"] + "-postgres"
        self.database = directory.name.replace("-", "_").lower()
        self.psql("postgres", f"CREATE DATABASE {self.database}")
        self.php = {
            "driver": "pdo_pgsql",
            "host": self.host,
            "user": "errand",
            "dbname": self.database,
        }

    def psql(self, database, sql):
        command = ["psql", "-h", self.host, "-U", "errand", "-d", database]
        command += ["-v", "ON_ERROR_STOP=1", "-qAt", "-F", "\t", "-c", sql]
        ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        return [line.split("\t") for line in ended.stdout.splitlines()]

    def dsn(self, options):
        return f"postgresql:///{self.database}?user=errand&host={self.host}&{options}"

    def execute(self, sql):
        return self.psql(self.database, sql)

    def make_due(self):
        self.execute("UPDATE messenger_messages SET available_at = created_at")

    def drop(self):
        self.psql("postgres", f"DROP DATABASE {self.database} WITH (FORCE)")


class Interop:
    """The tests; a class below gives each storage its turn."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="errand_interop_"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.storage = self.make_storage(self.directory)
        self.addCleanup(self.storage.drop)
        self.transport = self.storage.dsn("queue_name=async")
        self.failed = self.storage.dsn("queue_name=failed")
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

    def php(self, command, **options):
        """The JSON values that the peer prints."""
        ended = subprocess.run(
            ["php", str(PEER), command, json.dumps({"connection": self.storage.php, **options})],
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
        )
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(ended.stderr, "")
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def errand(self, *arguments):
        ended = subprocess.run(
            [os.environ["ERRAND_BIN"], *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
            cwd=self.directory,
        )
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
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

    def count(self):
        return int(self.storage.execute("SELECT count(*) FROM messenger_messages")[0][0])

    def test_php_dispatches_and_errand_handles(self):
        self.php("dispatch", count=3)
        handled = self.drain()
        self.assertEqual(sorted(message["n"] for message in handled), [1, 2, 3])
        self.assertEqual({message["to"] for message in handled}, {TEXT})
        self.assertEqual(self.count(), 0)

    def test_errand_sends_and_php_handles(self):
        for n in (1, 2, 3):
            self.errand("send", SMS, json.dumps({"to": TEXT, "n": n}), "--transport", "async")
        handled = self.php("consume")
        self.assertEqual(sorted(message["n"] for message in handled), [1, 2, 3])
        self.assertEqual({message["to"] for message in handled}, {TEXT})
        self.assertEqual(self.count(), 0)

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
        self.assertEqual(self.count(), 0)

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

    def test_errand_counts_on_where_php_stopped(self):
        self.php("dispatch")
        self.php("consume", fail=True, retries=3, limit=1)
        self.drain("echo $ERRAND_ATTEMPT > handled")
        self.assertEqual((self.directory / "handled").read_text(), "2\n")

    def test_a_body_of_php_survives_everything(self):
        self.php("dispatch", serializer="php")
        ((before,),) = self.storage.execute("SELECT body FROM messenger_messages")
        self.assertEqual(self.drain(), [])
        listed = json.loads(self.errand("failed", "list", "--transport", "failed", "--json"))
        (message,) = listed["items"]
        self.assertEqual(message["type"], SMS)
        self.assertIn("PHP's own serialization", message["error"]["message"])
        self.errand("failed", "retry", message["id"], "--transport", "failed")
        ((after,),) = self.storage.execute("SELECT body FROM messenger_messages")
        self.assertEqual(after, before)
        handled = self.php("consume", serializer="php")
        self.assertEqual(handled, [{"to": TEXT, "n": 1}])

    def test_php_goes_on_beside_messages_that_errand_keeps(self):
        self.php("dispatch", count=2)
        keeping = self.storage.dsn("queue_name=async&remove_after=3600")
        self.errand("worker", "--limit", "1", "--concurrency", "1", "--transport", keeping,
                    "--exec", f"{SMS}=true")  # fmt: skip
        self.assertEqual(len(self.php("consume")), 1)
        self.assertEqual(self.count(), 1)
        self.assertEqual(self.php("consume"), [])

    def test_two_workers_share_a_queue_and_each_message_is_handled_once(self):
        count = 200
        self.php("dispatch", count=count)
        by_php = []
        php = threading.Thread(target=lambda: by_php.extend(self.php("consume", limit=count)))
        php.start()
        self.drain()
        php.join()
        by_errand = self.drain()  # what was delivered to neither while both looked
        both = sorted([message["n"] for message in by_php + by_errand])
        self.assertEqual(both, list(range(1, count + 1)))
        self.assertEqual(self.count(), 0)


class OnSqlite(Interop, unittest.TestCase):
    make_storage = SqliteStorage


class OnPostgres(Interop, unittest.TestCase):
    make_storage = PostgresStorage


if __name__ == "__main__":
    unittest.main()
