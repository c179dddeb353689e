"""The built program on a new database of each kind. Standard library only."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from shared_databases import PostgresDatabase, SqliteDatabase

PROGRAM = os.environ["ERRAND_DISTRIBUTORS_BIN"]
DEADLINE = 240  # seconds; a limit for what hangs, never a pause


class SqliteStorage(SqliteDatabase):
    def dsn(self, options=""):
        return f"{self.address}?synchronous=normal{'&' if options else ''}{options}"


class PostgresStorage(PostgresDatabase):
    def dsn(self, options=""):
        return f"{self.address}{'&' if options else ''}{options}"


class Distributors:
    """What all the tests begin with; they also inherit unittest.TestCase."""

    dsn_options = ""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="errand_distributors_"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.storage = self.make_storage(self.directory)
        self.addCleanup(self.storage.drop)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ERRAND_")},
            "ERRAND_DSN": self.storage.dsn(self.dsn_options),
        }
        self.run_program("setup")

    def run_program(self, *arguments, code=0):
        """Its standard output; on failure, its standard error."""
        ended = subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
            cwd=self.directory,
            env=self.environment,
        )
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended.stdout if code == 0 else ended.stderr

    def json(self, *arguments):
        return json.loads(self.run_program(*arguments, "--json"))

    def start_worker(self, *arguments):
        return subprocess.Popen(
            [PROGRAM, "worker", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.directory,
            env=self.environment,
        )
