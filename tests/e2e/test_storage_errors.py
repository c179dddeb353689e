import os
import shutil
import sqlite3
import subprocess
import unittest

from built_program import DEADLINE
from errand_program import UNKNOWN_ID, ErrandTest

NOBODY = 65534


class StorageErrors(ErrandTest):
    def assert_storage_error(self, *arguments, says="", **options):
        ended = self.errand(*arguments, expect=6, **options)
        self.assertRegex(ended.stderr, r"\Aerrand: [^\n]+\n\Z")
        self.assertIn(says, ended.stderr)

    def test_commands_that_look_do_not_create_the_storage(self):
        for arguments in (["status", UNKNOWN_ID], ["wait", UNKNOWN_ID], ["cancel", UNKNOWN_ID],
                          ["list"], ["stats"], ["failed", "list"], ["failed", "retry", "--all"],
                          ["clean"], ["queue", "list"], ["queue", "pause", "q"], ["top"],
                          ["cancel", "--all"]):  # fmt: skip
            self.assert_storage_error(*arguments, says="errand setup")
            self.assertEqual(list(self.directory.iterdir()), [], arguments)

    def test_a_directory_that_is_not_there(self):
        dsn = f"sqlite:{self.directory}/missing/tasks.db"
        self.assert_storage_error("submit", "t", "--dsn", dsn, says="directory")
        self.assert_storage_error("setup", "--dsn", dsn)

    def test_a_directory_in_place_of_the_file(self):
        self.assert_storage_error("submit", "t", "--dsn", f"sqlite:{self.directory}")

    def test_a_path_below_a_file(self):
        (self.directory / "file").write_text("x")
        self.assert_storage_error("submit", "t", "--dsn", f"sqlite:{self.directory}/file/t.db")

    def test_a_file_that_is_no_database(self):
        self.database.write_text("This is a letter, not a database. " * 100)
        for arguments in (["stats"], ["submit", "t"], ["setup"]):
            self.assert_storage_error(*arguments, says="not an SQLite database")

    def test_a_database_without_our_tables(self):
        sqlite3.connect(self.database).executescript("CREATE TABLE other (x)").close()
        self.assert_storage_error("stats", says="errand setup")

    def test_a_newer_schema_is_refused_with_the_next_step(self):
        self.errand("setup")
        database = sqlite3.connect(self.database)
        with database:
            database.execute("INSERT INTO errand_schema (version) VALUES (999)")
        database.close()
        for arguments in (["stats"], ["submit", "t"], ["setup"], ["worker", "--drain"]):
            self.assert_storage_error(*arguments, says="999")

    def test_a_file_one_may_only_read(self):
        self.errand("setup")
        # Root may write anything; somebody else gets a copy of the program it can reach.
        program = self.directory / "errand"
        shutil.copy(self.program, program)
        program.chmod(0o755)
        for path in self.directory.iterdir():
            if path != program:
                path.chmod(0o444)
        self.directory.chmod(0o555)
        self.addCleanup(self.directory.chmod, 0o755)
        ended = subprocess.run(
            [program, "submit", "t"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env=self.environment,
            timeout=DEADLINE,
            user=NOBODY if os.getuid() == 0 else None,
        )
        self.assertEqual(ended.returncode, 6, ended.stderr)
        self.assertRegex(ended.stderr, r"\Aerrand: [^\n]*may not read and write[^\n]*\n\Z")
        self.assertEqual(ended.stdout, "")


if __name__ == "__main__":
    unittest.main()
