"""The built program on a new database of each kind. Standard library only."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

PROGRAM = os.environ["ERRAND_DISTRIBUTORS_BIN"]
DEADLINE = 240  # seconds; a limit for what hangs, never a pause


class SqliteStorage:
    def __init__(self, directory):
        self.file = directory / "distributors.db"
        self.php = {"driver": "pdo_sqlite", "path": str(self.file)}

    def dsn(self, options=""):
        return f"sqlite:{self.file}?synchronous=normal{'&' if options else ''}{options}"

    def query(self, sql):
        connection = sqlite3.connect(self.file, timeout=DEADLINE)
        rows = connection.execute(sql).fetchall()
        connection.commit()
        connection.close()
        return [["" if value is None else str(value) for value in row] for row in rows]

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

    def dsn(self, options=""):
        return f"postgresql:///{self.database}?user=errand&host={self.host}{'&' if options else ''}{options}"

    def query(self, sql):
        return self.psql(self.database, sql)

    def drop(self):
        self.psql("postgres", f"DROP DATABASE {self.database} WITH (FORCE)")


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
