import contextlib
import datetime
import json
import sqlite3
import re
import signal
import unittest

from errand_program import ErrandTest, Terminal

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class Submit(ErrandTest):
    def test_prints_the_id_alone(self):
        ended = self.errand("submit", "errand.echo", '{"a":1}')
        self.assertRegex(ended.stdout, UUID4.pattern + r"\n\Z")
        self.assertEqual(ended.stderr, "")

    def test_the_payload_is_stored_as_it_was_written(self):
        payload = '{"b": 1.0, "a": [1e2, "任务 🚀"]}'
        task = self.submit("errand.echo", payload)
        self.assertEqual(self.json("status", task)["payload"], payload)

    def test_any_json_is_a_payload(self):
        for payload in ("[1,2]", "[]", "{}", "null", "-5", '"text"', "true"):
            task = self.submit("errand.echo", payload)
            self.assertEqual(self.json("status", task)["payload"], payload)

    def test_without_a_payload_it_is_an_empty_object(self):
        self.assertEqual(self.json("status", self.submit("errand.echo"))["payload"], "{}")

    def test_the_payload_comes_from_a_file_or_standard_input(self):
        (self.directory / "payload.json").write_text('{"from":"file"}\n')
        task = self.submit("errand.echo", "@payload.json")
        self.assertEqual(self.json("status", task)["payload"], '{"from":"file"}')
        task = self.submit("errand.echo", "-", input='  {"from":"stdin"}\n')
        self.assertEqual(self.json("status", task)["payload"], '{"from":"stdin"}')

    def test_options_arrive_in_the_record(self):
        task = self.submit(
            "email.send", "{}", "--queue", "mail", "--delay", "2h", "--priority", "-5",
            "--max-retries", "7", "--retry-delay", "10s", "--header", "tenant=42",
            "--header", "trace=a=b",
        )  # fmt: skip
        record = self.json("status", task)
        self.assertEqual(record["type"], "email.send")
        self.assertEqual(record["queue"], "mail")
        self.assertEqual(record["priority"], -5)
        self.assertEqual(record["maxRetries"], 7)
        self.assertEqual(record["headers"], {"tenant": "42", "trace": "a=b"})
        self.assertGreater(record["availableAt"], record["submittedAt"])

    def test_the_same_id_twice_is_one_task(self):
        task = "7f0c1d2e-3b4a-4c5d-8e6f-708192a3b4c5"
        self.assertEqual(self.submit("errand.echo", '{"n":1}', "--id", task), task)
        self.assertEqual(self.submit("errand.echo", '{"n":2}', "--id", task), task)
        self.assertEqual(self.json("list")["total"], 1)
        self.assertEqual(self.json("status", task)["payload"], '{"n":1}')

    def test_wait_prints_the_result_instead_of_the_id(self):
        self.start_worker()
        ended = self.errand("submit", "errand.echo", '{"a":1}', "--wait=30s")
        self.assertEqual(ended.stdout, '{"a":1}\n')

    def test_wait_does_not_swallow_the_argument_after_it(self):
        self.start_worker()
        ended = self.errand("submit", "--wait", "errand.echo", "[1]")
        self.assertEqual(ended.stdout, "[1]\n")

    def test_wait_ends_as_the_task_does(self):
        self.start_worker()
        ended = self.errand(
            "submit", "errand.fail", '{"message":"no"}', "--max-retries", "0", "--wait=30s",
            expect=1,
        )  # fmt: skip
        self.assertEqual(ended.stdout, "")
        self.assertIn("no", ended.stderr)

    def test_wait_on_a_terminal_tells_the_id_first(self):
        terminal = Terminal(self, "submit", "errand.echo", "--wait")
        terminal.wait_for("pending")
        terminal.process.send_signal(signal.SIGINT)
        task = UUID4.search(terminal.end(expect=-signal.SIGINT)).group()
        self.assertEqual(self.json("status", task)["status"], "pending")

    def test_wait_that_times_out_tells_the_id(self):
        ended = self.errand("submit", "errand.echo", "--wait=50ms", expect=4)
        task = UUID4.search(ended.stderr).group()
        self.assertEqual(self.json("status", task)["status"], "pending")


class SubmitErrors(ErrandTest):
    def test_bad_json_names_the_position_and_stores_nothing(self):
        ended = self.errand("submit", "errand.echo", '{"a":1,}', expect=2)
        self.assertRegex(ended.stderr, r"^errand: the payload: not JSON at byte \d")
        self.assertFalse(self.database.exists())

    def test_json_that_is_too_much_is_told_from_what_is_not_json(self):
        ended = self.errand("submit", "errand.echo", '{"a":1e400}', expect=2)
        self.assertIn(
            "the payload: number out of range at byte 5: a double cannot hold 1e400", ended.stderr
        )
        ended = self.errand("submit", "errand.echo", "[" * 65 + "]" * 65, expect=2)
        self.assertIn("the payload: nested deeper than 64 levels at byte 64", ended.stderr)
        self.assertFalse(self.database.exists())

    def test_bad_json_in_a_file_names_the_file(self):
        (self.directory / "broken.json").write_text("{")
        ended = self.errand("submit", "errand.echo", "@broken.json", expect=2)
        self.assertIn("broken.json: not JSON", ended.stderr)

    def test_a_file_that_is_not_there_is_named(self):
        ended = self.errand("submit", "errand.echo", "@missing.json", expect=2)
        self.assertIn("cannot read missing.json: No such file or directory", ended.stderr)

    def test_bad_options_are_refused_before_anything_is_stored(self):
        for arguments in (
            ["--priority", "32768"],
            ["--priority", "high"],
            ["--max-retries", "-1"],
            ["--delay", "-1s"],
            ["--delay", "11000d"],
            ["--at", "tomorrow"],
            ["--at", "2026-12-24T18:00:00"],
            ["--at", "9999-12-24T18:00:00Z"],
            ["--at", "2026-12-24T18:00:00Z", "--delay", "1s"],
            ["--retry-multiplier", "0.5"],
            ["--retry-multiplier", "nan"],
            ["--retry-max-delay", "soon"],
            ["--retry-jitter", "1.5"],
            ["--header", "no-value"],
            ["--header", "=x"],
            ["--id", "not-a-uuid"],
            ["--queue", ""],
            ["--queue", "a\tb"],
            ["--wait=soon"],
        ):
            ended = self.errand("submit", "errand.echo", "{}", *arguments, expect=2)
            self.assertTrue(ended.stderr.startswith("errand: "), ended.stderr)
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
            self.assertFalse(self.database.exists(), arguments)

    def test_at_names_the_moment_it_may_begin(self):
        later = self.submit("errand.echo", "--at", "2035-12-24T19:00:00+01:00")
        record = self.json("status", later)
        due = datetime.datetime.fromisoformat(record["availableAt"])
        wanted = datetime.datetime(2035, 12, 24, 18, tzinfo=datetime.timezone.utc)
        self.assertLess(abs(due - wanted), datetime.timedelta(seconds=5))
        ids = self.errand("submit", "t", "--at", "2035-12-24T18:00:00Z", "--jsonl", "-", input="1")
        self.assertIn("2035-12-24T1", self.json("status", ids.stdout.strip())["availableAt"])
        past = self.submit("errand.echo", "--at", "2020-01-01T00:00:00Z")
        self.drain()
        self.assertEqual(self.json("status", past)["status"], "completed")
        self.assertEqual(self.json("status", later)["status"], "pending")

    def test_the_waits_between_attempts_are_chosen(self):
        task = self.submit("errand.fail", '{"message":"x"}', "--max-retries", "3",
                           "--retry-delay", "1h", "--retry-multiplier", "2.5",
                           "--retry-max-delay", "10ms", "--retry-jitter", "0.1")  # fmt: skip
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            ((policy,),) = database.execute("SELECT retry_policy FROM async_tasks").fetchall()
        self.assertEqual(
            json.loads(policy),
            {"delay_ms": 3_600_000, "multiplier": 2.5, "max_delay_ms": 10, "jitter": 0.1},
        )
        worker = self.start_worker()
        self.errand("wait", task, "--timeout", "60s", expect=1)
        self.stop(worker)

    def test_a_type_is_needed(self):
        self.assertIn("TYPE is required", self.errand("submit", expect=2).stderr)

    def test_jsonl_excludes_payload_id_and_wait(self):
        for other in (["{}"], ["--id", "7f0c1d2e-3b4a-4c5d-8e6f-708192a3b4c5"], ["--wait"]):
            self.errand("submit", "errand.echo", *other, "--jsonl", "-", expect=2)


class SubmitLines(ErrandTest):
    def test_ten_thousand_lines_become_ten_thousand_tasks(self):
        lines = self.directory / "messages.jsonl"
        lines.write_text("".join(f'{{"n":{n}}}\n' for n in range(10_000)))
        ended = self.errand("submit", "errand.echo", "--jsonl", "messages.jsonl")
        ids = ended.stdout.splitlines()
        self.assertEqual(len(set(ids)), 10_000)
        self.assertEqual(self.json("stats")["tasks"]["pending"], 10_000)
        self.assertEqual(self.json("status", ids[0])["payload"], '{"n":0}')
        self.assertEqual(self.json("status", ids[-1])["payload"], '{"n":9999}')

    def test_lines_from_standard_input_with_blank_ones_and_carriage_returns(self):
        ended = self.errand("submit", "errand.echo", "--jsonl", "-", input="1\r\n\n  \n[2]")
        payloads = [self.json("status", task)["payload"] for task in ended.stdout.split()]
        self.assertEqual(payloads, ["1", "[2]"])

    def test_no_lines_are_no_tasks(self):
        self.assertEqual(self.errand("submit", "t", "--jsonl", "-", input="\n").stdout, "")

    def test_a_bad_line_is_named_and_only_whole_batches_before_it_are_stored(self):
        lines = [json.dumps({"n": n}) for n in range(2_000)]
        lines[1_499] = "{broken"
        ended = self.errand("submit", "t", "--jsonl", "-", input="\n".join(lines), expect=2)
        self.assertRegex(ended.stderr, r"^errand: line 1500 of standard input: not JSON at byte ")
        self.assertIn("1,000 tasks of lines 1 to 1000 were submitted", ended.stderr)
        self.assertEqual(len(ended.stdout.splitlines()), 1_000)
        self.assertEqual(self.json("stats")["tasks"]["pending"], 1_000)

    def test_a_bad_line_in_the_first_batch_stores_nothing(self):
        ended = self.errand("submit", "t", "--jsonl", "-", input="1\n2\nx\n", expect=2)
        self.assertIn("line 3", ended.stderr)
        self.assertIn("nothing was submitted", ended.stderr)
        self.assertEqual(ended.stdout, "")

    def test_the_file_must_be_readable(self):
        self.assertIn(
            "cannot read nowhere.jsonl",
            self.errand("submit", "t", "--jsonl", "nowhere.jsonl", expect=2).stderr,
        )


if __name__ == "__main__":
    unittest.main()
