"""A real Symfony Messenger completes the withdrawal and asks for the check; the C++ worker upgrades."""

import json
import pathlib
import subprocess
import unittest

from distributors_program import DEADLINE, Distributors, PostgresStorage, SqliteStorage

PEER = pathlib.Path(__file__).parent / "check_message.php"


class Symfony(Distributors):
    def php(self, **options):
        return subprocess.run(
            ["php", str(PEER), json.dumps({"connection": self.storage.php, **options})],
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
        )

    def test_php_dispatches_and_the_worker_upgrades(self):
        self.run_program("seed")
        ended = self.php(distributor=1, withdrawal=2)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended.stdout)
        report = self.json("worker", "--drain", "--quiet")
        self.assertEqual((report["handled"], report["failed"], report["retried"]), (1, 0, 0))
        (upgrade,) = self.json("history")
        self.assertEqual((upgrade["distributorId"], upgrade["newLevel"]), (1, "Silver"))
        self.assertEqual(upgrade["triggeringWithdrawLedgerId"], 2)

    def test_a_class_of_another_name_is_paired_by_message_class(self):
        self.run_program("seed")
        ended = self.php(distributor=1, withdrawal=2, message="Shop\\Check")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended.stdout)
        ((headers,),) = self.storage.query("SELECT headers FROM messenger_messages")
        self.assertEqual(json.loads(headers)["type"], "Shop\\Check")
        report = self.json("--message-class", "Shop\\Check", "worker", "--drain", "--quiet")
        self.assertEqual((report["handled"], report["failed"], report["retried"]), (1, 0, 0))
        (upgrade,) = self.json("history")
        self.assertEqual(upgrade["triggeringWithdrawLedgerId"], 2)

    def test_what_php_rolls_back_is_never_checked(self):
        self.run_program("seed")
        self.assertNotEqual(self.php(distributor=1, withdrawal=2, fail=True).returncode, 0)
        self.assertEqual(self.json("worker", "--drain", "--quiet")["handled"], 0)
        self.assertEqual(self.json("history"), [])


class OnSqlite(Symfony, unittest.TestCase):
    make_storage = SqliteStorage


class OnPostgres(Symfony, unittest.TestCase):
    make_storage = PostgresStorage
