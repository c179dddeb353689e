import json
import os
import signal
import sqlite3
import unittest

from built_program import DEADLINE
from errand_program import ErrandTest


class Stats(ErrandTest):
    def test_counts_queues_and_workers(self):
        self.submit("errand.echo")
        self.drain()
        self.submit("errand.echo", "--queue", "mail")
        self.submit("errand.echo", "--queue", "mail", "--delay", "1h")
        worker = self.start_worker("--queue", "other", "--concurrency", "3")
        self.wait_until(lambda: self.json("stats")["workers"], "the worker did not show itself")
        stats = self.json("stats")
        self.assertEqual(
            stats["tasks"],
            {"pending": 2, "running": 0, "retrying": 0, "completed": 1, "failed": 0,
             "cancelled": 0},
        )  # fmt: skip
        (mail,) = stats["queues"]
        self.assertEqual(
            (mail["queue"], mail["paused"], mail["due"], mail["delayed"], mail["running"]),
            ("mail", False, 1, 1, 0),
        )
        self.assertGreaterEqual(mail["oldestDueMs"], 0)
        (info,) = stats["workers"]
        self.assertEqual(info["pid"], worker.pid)
        self.assertEqual(info["host"], os.uname().nodename)
        self.assertEqual((info["queues"], info["concurrency"]), (["other"], 3))
        for key in ("worker", "running", "handled", "failed", "startedAt", "seenAt"):
            self.assertIn(key, info)

    def test_tables_for_people(self):
        self.submit("errand.echo")
        text = self.errand("stats").stdout
        self.assertRegex(text, r"pending +1\n")
        self.assertRegex(text, r"QUEUE +STATE +DUE +DELAYED +RUNNING +OLDEST DUE\ndefault +open +1 ")
        self.assertIn("No worker is running", text)

    def test_an_empty_storage(self):
        self.errand("setup")
        self.assertEqual(self.json("stats")["queues"], [])
        self.assertIn("No queue has open tasks", self.errand("stats").stdout)


class Queue(ErrandTest):
    def test_a_paused_queue_waits_until_it_is_resumed(self):
        task = self.submit("errand.echo", "1", "--queue", "mail")
        self.assertIn("Paused queue 'mail'", self.errand("queue", "pause", "mail").stdout)
        self.assertTrue(self.json("queue", "list")[0]["paused"])
        self.assertRegex(self.errand("queue", "list").stdout, r"mail +paused +")
        self.drain("--queue", "mail")
        self.assertEqual(self.json("status", task)["status"], "pending")
        self.assertEqual(self.errand("queue", "resume", "mail").stdout, "Resumed queue 'mail'\n")
        self.drain("--queue", "mail")
        self.assertEqual(self.json("status", task)["status"], "completed")

    def test_a_queue_that_nobody_uses_is_told(self):
        self.errand("setup")
        self.assertEqual(
            self.errand("queue", "pause", "mial").stdout,
            "Paused queue 'mial': it has no tasks and no worker yet\n",
        )
        self.assertTrue(self.json("queue", "list")[0]["paused"])
        self.assertEqual(
            self.errand("queue", "resume", "mial", "other").stdout,
            "Resumed queue 'mial': it has no tasks and no worker yet\n"
            "Queue 'other' was not paused: it has no tasks and no worker yet\n",
        )
        self.start_worker("--queue", "mail")
        self.wait_until(lambda: self.json("stats")["workers"], "the worker did not show itself")
        self.assertEqual(
            self.errand("queue", "pause", "mail").stdout, "Paused queue 'mail': its tasks wait\n"
        )
        self.errand("queue", "resume", "mail")
        self.assertEqual(
            self.errand("queue", "resume", "mail").stdout, "Queue 'mail' was not paused\n"
        )

    def test_pause_and_resume_as_json(self):
        self.submit("errand.echo", "--queue", "mail")
        self.assertEqual(
            self.json("queue", "pause", "mail"),
            [{"queue": "mail", "paused": True, "wasPaused": False, "tasks": 1, "workers": 0}],
        )
        self.assertEqual(
            self.json("queue", "resume", "mail"),
            [{"queue": "mail", "paused": False, "wasPaused": True, "tasks": 1, "workers": 0}],
        )

    def test_a_command_is_needed(self):
        self.assertIn("pause, resume, list", self.errand("queue", expect=2).stderr)


class Clean(ErrandTest):
    def test_deletes_what_ended_longer_ago(self):
        done = self.submit("errand.echo")
        self.drain()
        waiting = self.submit("errand.echo")
        self.assertEqual(self.errand("clean").stdout, "Cleaned 0 expired tasks\n")
        self.assertEqual(self.json("clean", "--older-than", "1h"), {"cleaned": 0})
        self.assertEqual(
            self.errand("clean", "--older-than", "0").stdout, "Cleaned 1 expired task\n"
        )
        self.errand("status", done, expect=5)
        self.assertEqual(self.json("status", waiting)["status"], "pending")

    def test_the_ttl_of_the_dsn_is_the_default(self):
        self.submit("errand.echo")
        self.drain()
        dsn = f"sqlite:{self.database}?ttl=0"
        self.assertEqual(self.json("clean", "--dsn", dsn), {"cleaned": 1})


class Setup(ErrandTest):
    def test_creates_the_storage_once(self):
        ended = self.errand("setup")
        self.assertRegex(ended.stdout, r"is set up: schema version \d+\n")
        self.assertRegex(self.errand("setup").stdout, r"is up to date: schema version \d+\n")
        self.assertEqual(self.json("list")["total"], 0)

    def test_tells_programs_from_which_version_to_which(self):
        first = self.json("setup")
        self.assertEqual(first["from"], 0)
        self.assertGreater(first["to"], 0)
        self.assertEqual(self.json("setup")["from"], first["to"])

    def test_the_dumped_script_makes_a_storage_that_works(self):
        script = self.errand("setup", "--dump-sql").stdout
        self.assertEqual(list(self.directory.iterdir()), [])
        database = sqlite3.connect(self.database)
        database.executescript(script)
        database.close()
        task = self.submit("errand.echo", "1")
        self.drain()
        self.assertEqual(self.errand("wait", task).stdout, "1\n")


class Doctor(ErrandTest):
    def test_a_sound_storage(self):
        self.errand("setup")
        text = self.errand("doctor").stdout
        self.assertIn("✓ schema", text)
        self.assertNotIn("✗", text)
        findings = self.json("doctor")
        self.assertEqual(findings["engine"], "sqlite")
        for finding in findings["findings"]:
            self.assertIn(finding["severity"], ("ok", "warning"))

    def test_a_warning_says_what_to_do(self):
        self.submit("errand.echo")
        self.assertRegex(self.errand("doctor").stdout, r"! queue default .*\n +→ .*errand worker")

    def test_a_problem_is_a_failure(self):
        self.errand("setup")
        database = sqlite3.connect(self.database)
        with database:
            database.execute("INSERT INTO errand_schema (version) VALUES (999)")
        database.close()
        self.assertRegex(self.errand("doctor", expect=1).stdout, r"✗ schema .*999.*\n +→ ")
        problems = [f for f in self.json("doctor", expect=1)["findings"] if f["severity"] == "problem"]
        self.assertEqual(problems[0]["subject"], "schema")
        self.assertTrue(problems[0]["fix"])

    def test_a_storage_that_is_not_there_is_not_made(self):
        ended = self.errand("doctor", expect=6)
        self.assertRegex(ended.stdout, r"\A✗ storage  there is no file .*\n +→ .*errand setup.*\n\Z")
        (finding,) = self.json("doctor", expect=6)["findings"]
        self.assertEqual((finding["severity"], finding["subject"]), ("problem", "storage"))
        self.assertFalse(self.database.exists())

    def test_a_damaged_file_is_told_in_lines(self):
        self.errand("submit", "t", "--jsonl", "-", input="1\n" * 5_000)
        with open(self.database, "r+b") as file:
            file.seek(-4096 * 3, 2)
            file.write(b"\xff" * 4096)
        ended = self.errand("doctor", expect=1)
        self.assertRegex(ended.stdout, r"✗ integrity +\*\*\* in database main \*\*\*\n +\S")
        self.assertNotIn("\\n", ended.stdout)

    def test_the_next_step_of_a_storage_that_cannot_be_opened_is_told_as_such(self):
        self.database.write_text("This is a letter, not a database. " * 100)
        self.assertRegex(
            self.errand("doctor", expect=6).stdout,
            r"\A✗ storage  .*\n +→ the DSN names a file that is not an SQLite database\n\Z",
        )

    def change(self, sql):
        database = sqlite3.connect(self.database)
        with database:
            changed = database.execute(sql).rowcount
        database.close()
        self.assertEqual(changed, 1, sql)

    def test_a_task_lost_with_its_worker_waits_for_another_one(self):
        task = self.submit("errand.sleep", '{"ms":600000}', "--queue", "mail")
        worker = self.start_worker("--queue", "mail", "--lease", "600s")
        self.wait_for_status(task, "running")
        self.wait_until(lambda: self.json("stats")["workers"], "the worker did not show itself")
        self.assertNotIn("lost", self.errand("doctor").stdout)
        self.stop(worker, signal.SIGKILL)

        # As if it had been killed ten minutes ago.
        self.change("UPDATE async_tasks SET lease_expires_at = datetime('now', '-60 seconds')")
        self.assertNotIn("lost", self.errand("doctor").stdout, "it was seen after that")
        self.change("UPDATE errand_workers SET seen_at = datetime('now', '-600 seconds')")
        self.assertRegex(
            self.errand("doctor").stdout,
            r"! queue mail +1 running task was lost with a worker, and no worker is there to rescue it\n"
            r" +→ start one with `errand worker --queue mail`\n\Z",
        )

        # Any worker rescues it; this one does not take it, too.
        self.start_worker("--queue", "other")
        self.wait_until(
            lambda: "lost" not in self.errand("doctor").stdout, "a worker is there, and it is lost"
        )
        self.wait_for_status(task, "retrying")

    def test_a_database_without_our_tables_is_a_problem_and_left_as_it_is(self):
        sqlite3.connect(self.database).executescript("CREATE TABLE other (x)").close()
        before = self.database.read_bytes()
        self.assertEqual(
            self.errand("doctor", expect=1).stdout,
            f"✗ storage  {self.database} has no Errand tables yet\n"
            "           → run `errand setup`, or submit a task, to create them\n",
        )
        (finding,) = self.json("doctor", expect=1)["findings"]
        self.assertEqual((finding["severity"], finding["subject"]), ("problem", "storage"))
        self.assertEqual(self.database.read_bytes(), before)
        self.assertEqual(list(self.directory.iterdir()), [self.database])

    def test_a_malformed_dsn_is_a_finding_that_does_not_repeat_it(self):
        for dsn in ("postgre://errand:hidden-word@host/db", "postgresql://u:hid%zzden-word@host/db"):
            told = self.json("doctor", "--dsn", dsn, expect=2)
            self.assertEqual((told["dsn"], told["engine"]), (None, None))
            (finding,) = told["findings"]
            self.assertEqual((finding["severity"], finding["subject"]), ("problem", "storage"))
            self.assertIn("wrong DSN", finding["detail"])
            self.assertTrue(finding["fix"])
            ended = self.errand("doctor", "--dsn", dsn, expect=2)
            self.assertRegex(ended.stdout, r"\A✗ storage  --dsn: wrong DSN: .*\n +→ ")
            self.assertEqual(ended.stderr, "")
            self.assertNotIn("den-word", ended.stdout + str(told))


class Bench(ErrandTest):
    def test_interrupted_it_removes_what_it_made(self):
        task = self.submit("errand.echo")
        bench = self.start("bench", "--tasks", "20000")
        self.wait_until(
            lambda: self.json("stats")["tasks"]["pending"] > 1, "nothing was measured"
        )
        bench.send_signal(signal.SIGINT)
        _, errors = bench.communicate(timeout=DEADLINE)
        self.assertEqual(bench.returncode, 3, errors)
        self.assertIn("interrupted; what was made is removed", errors)
        self.assertEqual([one["taskId"] for one in self.json("list")["items"]], [task])

    def test_few_tasks_give_a_hint_and_figures_all_the_same(self):
        small = ["--tasks", "100", "--rounds", "1", "--queue-only"]
        ended = self.errand("bench", *small, "--json")
        self.assertEqual(json.loads(ended.stdout)["tasks"], 100)
        self.assertEqual(
            ended.stderr,
            "errand: figures of 100 tasks are mostly noise; measure with --tasks 5000 or more\n",
        )
        enough = self.errand("bench", "--tasks", "5000", "--rounds", "1", "--queue-only")
        self.assertEqual(enough.stderr, "")


class Top(ErrandTest):
    def test_without_a_terminal_it_prints_one_picture(self):
        self.fail_a_task("no mail today")
        for arguments in ([], ["--once"]):
            text = self.errand("top", *arguments).stdout
            self.assertIn(f"errand top sqlite:{self.database}", text)
            self.assertRegex(text, r"tasks( +0){4} +1 +0\n")
            self.assertIn("no mail today", text)
            self.assertNotIn("\x1b", text)

    def test_one_picture_as_json(self):
        task = self.fail_a_task()
        picture = self.json("top", "--once")
        self.assertEqual(picture["tasks"]["failed"], 1)
        self.assertEqual((picture["queues"], picture["workers"]), ([], []))
        self.assertEqual([failure["taskId"] for failure in picture["failures"]], [task])

    def test_an_interval_that_would_be_a_burden_is_refused(self):
        self.errand("setup")
        self.assertIn("at least 50 ms", self.errand("top", "--interval", "0", expect=2).stderr)


class Version(ErrandTest):
    def test_version_and_engines(self):
        version = json.loads(self.errand("version", "--json").stdout)
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("sqlite", version["engines"])
        text = self.errand("version").stdout
        self.assertTrue(text.startswith(f"errand {version['version']}\n"))
        self.assertEqual(self.errand("--version").stdout, f"errand {version['version']}\n")


if __name__ == "__main__":
    unittest.main()
