"""A new database of each kind, which Errand, PHP and the tests look into alike."""

import contextlib
import os
import sqlite3
import subprocess


class SqliteDatabase:
    def __init__(self, directory):
        self.file = directory / "app.db"
        self.address = f"sqlite:{self.file}"
        self.php = {"driver": "pdo_sqlite", "path": str(self.file)}

    def query(self, sql):
        """The rows, as texts."""
        with contextlib.closing(sqlite3.connect(self.file, timeout=120)) as connection:
            rows = connection.execute(sql).fetchall()
            connection.commit()
        return [["" if value is None else str(value) for value in row] for row in rows]

    def drop(self):
        """It goes with the directory."""


class PostgresDatabase:
    """On the server of tests/servers, called like the directory."""

    def __init__(self, directory):
        self.host = os.environ["ERRAND_TEST_SERVERS"] + "-postgres"
        self.database = directory.name.replace("-", "_").lower()
        self.psql("postgres", f"CREATE DATABASE {self.database}")
        self.address = f"postgresql:///{self.database}?user=errand&host={self.host}"
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

    def query(self, sql):
        """The rows, as texts."""
        return self.psql(self.database, sql)

    def drop(self):
        self.psql("postgres", f"DROP DATABASE {self.database} WITH (FORCE)")
