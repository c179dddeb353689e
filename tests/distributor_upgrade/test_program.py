"""The commands as people use them."""

import json
import signal
import subprocess
import time
import unittest

from distributors_program import DEADLINE, PROGRAM, Distributors, PostgresStorage, SqliteStorage


class Commands(Distributors):
    def test_a_completed_withdrawal_leads_to_an_upgrade(self):
        self.run_program("seed")
        self.assertIn("completed; Chen Wei (distributor 1) is to be checked",
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
        self.assertIn("✓ withdrawn_total >= 1000  4800.00 >= 1000.00", looked)
        self.assertIn("✗ withdrawn_total >= 5000  4800.00 >= 5000.00, 200.00 missing", looked)
        self.assertIn("  ✗ one of:\n    ✗ team_size >= 20", looked)
        self.assertEqual(self.json("history"), [])
        checked = self.json("check", "1")
        self.assertTrue(checked["upgraded"])
        self.assertEqual((checked["previousLevel"], checked["level"]), ("Starter", "Bronze"))
        self.assertEqual(checked["reached"], "Bronze")
        self.assertEqual(checked["steps"][1]["findings"][0]["holds"], False)
        self.assertIn("stays Bronze", self.run_program("check", "1"))

    def test_check_goes_on_past_criteria_that_another_program_broke(self):
        self.run_program("seed")
        self.storage.query("UPDATE distributor_level SET criteria = 'team >' WHERE name = 'Gold'")
        self.assertIn("Gold: cannot be worked out", self.run_program("check", "1"))
        self.storage.query("UPDATE distributor_level SET criteria = 'team >' WHERE name = 'Silver'")
        self.assertIn("level Silver: criteria", self.run_program("check", "1", code=1))
        self.assertEqual(self.json("distributor", "show", "1")["level"], "Bronze")
        self.run_program("level", "set", "Silver", "--when", "withdrawn_total >= 10")
        self.run_program("level", "set", "Gold", "--by-hand")
        self.assertIn("rose from Bronze to Silver", self.run_program("check", "1"))

    def test_a_level_above_one_that_is_missing_says_so(self):
        self.run_program("seed")
        self.run_program("level", "set", "Gold", "--when", "withdrawn_total >= 10")
        self.assertIn("Gold: would be reached, but Silver is not", self.run_program("check", "1"))

    def test_a_level_is_given_by_hand(self):
        self.run_program("seed")
        self.assertEqual(self.run_program("distributor", "set-level", "7", "Gold"),
                         "Sun Hao (distributor 7) was Starter and is Gold now\n")
        (change,) = self.json("history", "--distributor", "7")
        self.assertEqual((change["newLevel"], change["criteria"]), ("Gold", None))
        self.assertIn("given by hand", self.run_program("history"))
        self.assertIn("is Gold already",
                      self.run_program("distributor", "set-level", "7", "Gold", code=1))
        self.assertIn("there are Starter, Bronze",
                      self.run_program("distributor", "set-level", "7", "Diamond", code=5))

    def test_a_ring_of_sponsors_is_shown_and_counted_once(self):
        self.run_program("seed")
        self.storage.query("UPDATE distributor SET sponsor_id = 7 WHERE id = 1")
        figures = self.json("distributor", "show", "1")["figures"]
        self.assertEqual((figures["direct_team_size"], figures["indirect_team_size"],
                          figures["team_size"]), (2, 4, 6))
        self.assertEqual(len(self.json("distributor", "tree", "1")), 7)
        self.assertIn("Chen Wei  Starter #1  sponsored by #7: a ring",
                      self.run_program("distributor", "tree"))

    def test_every_command_that_prints_takes_json(self):
        self.assertEqual(self.json("setup")["skipLevels"], False)
        self.assertEqual(self.json("seed")["distributorsAdded"], 7)
        self.assertEqual(self.json("level", "add", "9", "Diamond")["id"], 6)
        self.assertEqual(self.json("level", "remove", "Diamond"), {"removed": "Diamond"})
        self.assertEqual(self.json("level", "figures")[0]["name"], "withdrawn_total")
        self.assertEqual(self.json("distributor", "add", "Li Na")["id"], 8)
        self.assertEqual(self.json("distributor", "list", "--after", "7")[0]["name"], "Li Na")
        withdrawal = self.json("withdraw", "create", "8", "10.10")["id"]
        (listed,) = self.json("withdraw", "list", "--distributor", "8")
        self.assertEqual((listed["id"], listed["distributor"], listed["amount"]),
                         (withdrawal, "Li Na", "10.10"))
        self.assertEqual(self.json("worker", "--drain", "--quiet")["reason"], "drained")

    def test_numbers_in_json_are_readable(self):
        self.run_program("seed")
        self.assertNotIn("E", self.run_program("check", "--all", "--json").split("seconds")[1])

    def test_check_all_stopped_by_a_signal_is_3(self):
        self.run_program("seed", "--count", "20000")
        program = subprocess.Popen([PROGRAM, "check", "--all", "--batch", "1"],
                                   stdout=subprocess.PIPE, encoding="utf-8", cwd=self.directory,
                                   env=self.environment)
        deadline = time.monotonic() + DEADLINE
        upgrades = "SELECT count(*) FROM distributor_level_upgrade_history"
        while self.storage.query(upgrades) == [["0"]]:
            self.assertLess(time.monotonic(), deadline, "it never began")
            time.sleep(0.02)
        program.send_signal(signal.SIGTERM)
        said = program.communicate(timeout=DEADLINE)[0]
        self.assertEqual(program.returncode, 3, said)
        self.assertIn("stopped: ", said)

    def test_check_all_reports_its_rate(self):
        self.run_program("seed", "--count", "300")
        would_be = self.json("check", "--all", "--dry-run")["upgraded"]
        report = self.json("check", "--all", "--batch", "100")
        self.assertEqual(report["upgraded"], would_be)
        self.assertEqual(report["checked"], 307)
        self.assertGreater(report["upgraded"], 0)
        self.assertGreater(report["perSecond"], 0)
        self.assertEqual(len(self.json("history", "--limit", "1000")), report["upgraded"])
        self.assertIn("307 checked in", self.run_program("check", "--all"))

    def test_simulate_tells_how_many_waited(self):
        self.run_program("seed")
        report = self.json("simulate", "--rate", "50", "--for", "2s", "--handling", "30ms")
        self.assertEqual((report["sent"], report["handled"], report["failed"]), (100, 100, 0))
        # A second's worth: what waits comes and goes.
        self.assertLessEqual(report["mostWaiting"], 50)

    def test_simulate_tells_of_checks_that_fail(self):
        self.run_program("seed")
        self.storage.query("UPDATE distributor_level SET criteria = 'team >' WHERE name = 'Bronze'")
        said = self.run_program("simulate", "--rate", "50", "--for", "1s", code=1)
        self.assertIn("50 checks failed; the first: distributor", said)
        self.assertEqual(said.count("\n"), 1)

    def test_mistakes_are_named(self):
        self.run_program("level", "add", "0", "Starter")
        said = self.run_program("level", "add", "1", "Gold", "--when", "teem_size >= 3", code=2)
        self.assertIn("there is no figure `teem_size`, did you mean `team_size`?", said)
        self.assertIn("  teem_size >= 3\n  ^\n", said)
        self.assertIn("no distributor 9", self.run_program("check", "9", code=5))
        self.assertIn("there is no withdrawal 9",
                      self.run_program("withdraw", "complete", "9", code=5))
        self.assertIn("is more than 999999999999.99",
                      self.run_program("withdraw", "create", "1", "100000000000000000", code=2))
        self.assertIn("no distributor 99", self.run_program("history", "--distributor", "99", code=5))
        self.assertIn("password on the command line", self.run_program(
            "--dsn", "postgresql://app:secret@db/shop", "level", "list", code=2))
        self.assertIn("--when CRITERIA, or --by-hand",
                      self.run_program("level", "set", "Starter", code=2))
        self.assertIn("parts of a cent", self.run_program("withdraw", "create", "1", "1.005", code=2))
        self.assertIn("did you mean 'worker'?", self.run_program("wroker", code=2))
        self.assertIn("Give an id, or --all", self.run_program("check", code=2))
        self.assertIn("'x' is not a whole number", self.run_program("check", "x", code=2))
        self.assertIn("is neither yes nor no",
                      self.run_program("setup", "--skip-levels", "perhaps", code=2))
        self.assertIn("SQLite or PostgreSQL",
                      self.run_program("--dsn", "redis://localhost", "level", "list", code=2))

    def test_output_that_cannot_be_written_is_74(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            ended = subprocess.run([PROGRAM, "level", "figures"], stdout=full,
                                   stderr=subprocess.PIPE, encoding="utf-8", timeout=DEADLINE,
                                   cwd=self.directory, env=self.environment)
        self.assertEqual(ended.returncode, 74, ended.stderr)
        self.assertIn("No space left on device", ended.stderr)

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
        self.assertRegex(self.run_program("--version"), r"^errand-distributors \d+\.\d+")
        self.assertIn("--when CRITERIA", self.run_program("level", "add", "--help"))
        self.assertIn("withdrawn_total", self.run_program("level", "figures"))


class OnSqlite(Commands, unittest.TestCase):
    make_storage = SqliteStorage


class OnPostgres(Commands, unittest.TestCase):
    make_storage = PostgresStorage

    def test_dates_are_read_whatever_style_the_server_writes(self):
        self.environment["PGDATESTYLE"] = "German"
        self.run_program("seed")
        self.run_program("withdraw", "complete", "2")
        self.run_program("worker", "--drain", "--quiet")
        self.assertEqual(self.json("history")[0]["newLevel"], "Silver")

    def test_a_server_that_is_away_is_told_in_one_clean_line(self):
        self.environment["ERRAND_DSN"] = "postgresql:///shop?host=/nowhere"
        said = self.run_program("level", "list", code=6)
        self.assertIn("Is the server running", said)
        self.assertNotIn("\\x", said)
