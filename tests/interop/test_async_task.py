"""A Symfony application records tasks and sends them; Errand runs them and writes the records."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from test_symfony import DEADLINE, PostgresStorage, SqliteStorage

PEER = pathlib.Path(__file__).parent / "async_task.php"
REPORT = "App\\Message\\Report"


class AsyncTask:
    """The tests; a class below gives each storage of records its turn."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="errand_interop_"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.messages = self.make_messages(self.directory)
        self.addCleanup(self.messages.drop)
        self.errand("setup")

    def php(self, command, **options):
        everything = {"connection": self.messages.php, **self.php_options(), **options}
        ended = subprocess.run(
            ["php", str(PEER), command, json.dumps(everything)],
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended.stdout)
        return json.loads(ended.stdout)

    def errand(self, *arguments):
        ended = subprocess.run(
            [os.environ["ERRAND_BIN"], *arguments, "--dsn", self.records_dsn()],
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
            cwd=self.directory,
        )
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def drain(self, command):
        self.errand("worker", "--drain", "--queue", "default", "--exec", f"{REPORT}={command}",
                    "--transport", self.messages.dsn("async"))  # fmt: skip

    def test_a_task_of_php_is_completed_with_its_result(self):
        task = self.php("submit", title="发票")
        self.assertEqual(self.php("read", taskId=task)["status"], "pending")
        self.drain("cat")
        record = self.php("read", taskId=task)
        self.assertEqual(record["status"], "completed")
        self.assertEqual(json.loads(record["result"]), {"title": "发票"})
        self.assertIsNone(record["error"])

    def test_a_task_of_php_fails_with_the_exception(self):
        task = self.php("submit", title="x")
        self.drain("echo no paper >&2; exit 3")
        record = self.php("read", taskId=task)
        self.assertEqual(record["status"], "failed")
        self.assertIsNone(record["result"])
        error = json.loads(record["error"])
        self.assertIn("no paper", error["message"])
        self.assertLessEqual(
            {"class", "message", "code", "file", "line", "trace", "previous"}, set(error)
        )


class InATableOfSqlite(AsyncTask, unittest.TestCase):
    make_messages = SqliteStorage

    def php_options(self):
        return {}

    def records_dsn(self):
        return f"sqlite:{self.messages.file}"


class InATableOfPostgres(AsyncTask, unittest.TestCase):
    make_messages = PostgresStorage

    def php_options(self):
        return {}

    def records_dsn(self):
        return self.messages.address


class InKeysOfRedis(AsyncTask, unittest.TestCase):
    """The messages are in another engine than the records."""

    make_messages = SqliteStorage

    def php_options(self):
        return {"redis": os.environ["ERRAND_TEST_SERVERS"] + "-redis/redis.sock"}

    def records_dsn(self):
        return f"redis+unix://{self.php_options()['redis']}"


if __name__ == "__main__":
    unittest.main()
