"""The commands as people use them."""

import json
import unittest

from distributors_program import Distributors, PostgresStorage, SqliteStorage


class Commands(Distributors):
    def test_a_completed_withdrawal_leads_to_an_upgrade(self):
        self.run_program("seed")
        self.assertIn("completed; distributor 1 is to be checked",
                      self.run_program("withdraw", "complete", "2"))
        report = self.json("worker", "--drain", "--quiet")
        self.assertEqual((report["handled"], report["failed"]), (1, 0))
        (upgrade,) = self.json("history", "--distributor", "1")
        self.assertEqual(upgrade["newLevel"], "Silver")
        self.assertEqual(upgrade["triggeringWithdrawLedgerId"], 2)
        self.assertEqual(upgrade["figures"]["withdrawn_total"], "5400.00")
        self.assertIn("Chen Wei #1", self.run_program("history"))

    def test_levels_distributors_and_withdrawals_from_nothing(self):
        self.run_program("level", "add", "0", "Starter")
        self.run_program("level", "add", "1", "Gold", "--when", "withdrawn_total >= 10.10")
        self.assertEqual(self.run_program("distributor", "add", "Li Na"), "1\n")
        self.assertEqual(self.run_program("distributor", "add", "赵丽", "--sponsor", "1"), "2\n")
        self.assertEqual(self.run_program("withdraw", "create", "1", "10.10"), "1\n")
        self.run_program("withdraw", "process", "1")
        self.run_program("withdraw", "complete", "1")
        self.assertIn("is completed already",
                      self.run_program("withdraw", "complete", "1", code=1))
        shown = self.json("distributor", "show", "1")
        self.assertEqual(shown["figures"]["withdrawn_total"], "10.10")
        self.assertEqual(shown["figures"]["direct_team_size"], 1)
        self.assertEqual(self.run_program("distributor", "tree"),
                         "Li Na  Starter #1\n   赵丽  Starter #2\n")
        self.run_program("worker", "--drain")
        self.assertEqual(self.json("distributor", "show", "1")["level"], "Gold")
        self.assertEqual([level["name"] for level in self.json("level", "list")],
                         ["Starter", "Gold"])

    def test_check_explains_each_criterion(self):
        self.run_program("seed")
        looked = self.run_program("check", "1", "--dry-run")
        self.assertIn("Chen Wei (distributor 1) is Starter and would rise to Bronze", looked)
        self.assertIn("✓ withdrawn_total >= 1000  4800 >= 1000", looked)
        self.assertIn("✗ withdrawn_total >= 5000  4800 >= 5000, 200 missing", looked)
        self.assertEqual(self.json("history"), [])
        checked = self.json("check", "1")
        self.assertTrue(checked["upgraded"])
        self.assertEqual(checked["reached"], "Bronze")
        self.assertEqual(checked["steps"][1]["findings"][0]["holds"], False)
        self.assertIn("stays Bronze", self.run_program("check", "1"))

    def test_check_all_reports_its_rate(self):
        self.run_program("seed", "--count", "300")
        report = self.json("check", "--all", "--batch", "100")
        self.assertEqual(report["checked"], 307)
        self.assertGreater(report["upgraded"], 0)
        self.assertGreater(report["perSecond"], 0)
        self.assertEqual(len(self.json("history", "--limit", "1000")), report["upgraded"])
        self.assertIn("307 checked in", self.run_program("check", "--all"))

    def test_simulate_tells_how_many_waited(self):
        self.run_program("seed")
        report = self.json("simulate", "--rate", "50", "--for", "1s", "--handling", "5ms")
        self.assertGreater(report["sent"], 20)
        self.assertEqual((report["handled"], report["failed"]), (report["sent"], 0))

    def test_mistakes_are_named(self):
        self.run_program("level", "add", "0", "Starter")
        said = self.run_program("level", "add", "1", "Gold", "--when", "teem_size >= 3", code=2)
        self.assertIn("there is no figure `teem_size`, did you mean `team_size`?", said)
        self.assertIn("  teem_size >= 3\n  ^\n", said)
        self.assertIn("no distributor 9", self.run_program("check", "9", code=5))
        self.assertIn("there is no withdrawal 9",
                      self.run_program("withdraw", "complete", "9", code=5))
        self.assertIn("parts of a cent", self.run_program("withdraw", "create", "1", "1.005", code=2))
        self.assertIn("did you mean 'worker'?", self.run_program("wroker", code=2))
        self.assertIn("Give an id, or --all", self.run_program("check", code=2))
        self.assertIn("'x' is not a whole number", self.run_program("check", "x", code=2))
        self.assertIn("is neither yes nor no",
                      self.run_program("setup", "--skip-levels", "perhaps", code=2))
        self.assertIn("SQLite or PostgreSQL",
                      self.run_program("--dsn", "redis://localhost", "level", "list", code=2))

    def test_a_storage_that_is_not_there_is_6(self):
        self.assertIn("errand-distributors setup",
                      self.run_program("--dsn", "sqlite:none.db", "level", "list", code=6))

    def test_a_configured_class_is_used_on_the_wire(self):
        self.run_program("seed")
        self.run_program("--message-class", "Shop\\Check", "withdraw", "complete", "2")
        ((headers,),) = self.storage.query("SELECT headers FROM messenger_messages")
        self.assertEqual(json.loads(headers)["type"], "Shop\\Check")
        self.run_program("--message-class", "Shop\\Check", "worker", "--drain", "--quiet")
        self.assertEqual(len(self.json("history")), 1)

    def test_help_teaches(self):
        self.assertIn("Exit status:", self.run_program("--help"))
        self.assertIn("--when CRITERIA", self.run_program("level", "add", "--help"))
        self.assertIn("withdrawn_total", self.run_program("level", "figures"))


class OnSqlite(Commands, unittest.TestCase):
    make_storage = SqliteStorage


class OnPostgres(Commands, unittest.TestCase):
    make_storage = PostgresStorage
