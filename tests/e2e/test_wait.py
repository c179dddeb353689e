import json
import time
import unittest

from built_program import DEADLINE
from errand_program import UNKNOWN_ID, ErrandTest


class Wait(ErrandTest):
    def test_prints_the_result_of_a_task_another_process_runs(self):
        task = self.submit("errand.echo", '{"a":1}')
        waiting = self.start("wait", task)
        self.drain()
        out, err = waiting.communicate(timeout=DEADLINE)
        self.assertEqual((out, err, waiting.returncode), ('{"a":1}\n', "", 0))

    def test_a_result_that_is_there_already_is_printed(self):
        task = self.submit("errand.echo", '"任务"')
        self.drain()
        self.assertEqual(self.errand("wait", task).stdout, '"任务"\n')

    def test_several_results_come_in_the_order_asked_for(self):
        tasks = [self.submit("errand.echo", str(n)) for n in range(3)]
        self.drain()
        self.assertEqual(self.errand("wait", *reversed(tasks)).stdout, "2\n1\n0\n")

    def test_a_result_of_several_lines_is_one_line_for_programs(self):
        result = '{ "a" : 1.50,\n  "b c": [1e2,\t"x \\" : \\n"] }'
        task = self.submit("errand.echo", result)
        self.drain()
        line = '{"a":1.50,"b c":[1e2,"x \\" : \\n"]}\n'
        self.assertEqual(self.errand("wait", task, task).stdout, line * 2)
        self.start_worker()
        self.assertEqual(self.errand("submit", "errand.echo", result, "--wait=60s").stdout, line)

    def test_json_is_a_line_for_each_task_however_it_ended(self):
        good = self.submit("errand.echo", '{"a": 1}')
        failed = self.fail_a_task("no mail")
        cancelled = self.submit("errand.echo")
        self.errand("cancel", cancelled)
        waiting = self.submit("errand.echo")
        ended = self.errand(
            "wait", good, failed, cancelled, UNKNOWN_ID, waiting, "--timeout", "0", "--json",
            expect=1,
        )  # fmt: skip
        lines = [json.loads(line) for line in ended.stdout.splitlines()]
        error = lines[1].pop("error")
        self.assertEqual(json.loads(error)["message"], "no mail")
        self.assertEqual(
            lines,
            [
                {"taskId": good, "status": "completed", "result": '{"a": 1}'},
                {"taskId": failed, "status": "failed"},
                {"taskId": cancelled, "status": "cancelled"},
                {"taskId": UNKNOWN_ID, "status": "unknown"},
                {"taskId": waiting, "status": "pending"},
            ],
        )
        for task, code in ((good, 0), (cancelled, 3), (UNKNOWN_ID, 5), (waiting, 4)):
            self.errand("wait", task, "--timeout", "0", "--json", expect=code)
        ended = self.errand(
            "wait", good, "--json", "--dsn", f"sqlite:{self.database}?ttl=0", expect=5
        )
        self.assertEqual(json.loads(ended.stdout), {"taskId": good, "status": "expired"})

    def test_a_failure_tells_class_message_and_place(self):
        task = self.fail_a_task("no mail today")
        ended = self.errand("wait", task, expect=1)
        self.assertEqual(ended.stdout, "")
        first, *rest = ended.stderr.splitlines()
        self.assertRegex(first, rf"^errand: task {task} failed: [\w:]+: no mail today$")
        self.assertTrue(any("thrown at" in line for line in rest), ended.stderr)

    def test_a_cancelled_task(self):
        task = self.submit("errand.echo")
        self.errand("cancel", task)
        ended = self.errand("wait", task, expect=3)
        self.assertEqual(ended.stderr, f"errand: task {task} was cancelled\n")

    def test_a_time_out_leaves_the_task_alone(self):
        task = self.submit("errand.echo", "7")
        begin = time.monotonic()
        ended = self.errand("wait", task, "--timeout", "200ms", expect=4)
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)
        self.assertIn(f"errand wait {task}", ended.stderr)
        self.drain()
        self.assertEqual(self.errand("wait", task).stdout, "7\n")

    def test_a_time_out_of_zero_only_looks(self):
        task = self.submit("errand.echo", "7")
        self.errand("wait", task, "--timeout", "0", expect=4)
        self.drain()
        self.assertEqual(self.errand("wait", task, "--timeout", "0").stdout, "7\n")

    def test_an_unknown_task(self):
        self.submit("errand.echo")
        ended = self.errand("wait", UNKNOWN_ID, expect=5)
        self.assertEqual(ended.stderr, f"errand: no task {UNKNOWN_ID} in this storage\n")

    def test_an_expired_task_is_told_from_an_unknown_one(self):
        task = self.submit("errand.echo")
        self.drain()
        ended = self.errand("wait", task, "--dsn", f"sqlite:{self.database}?ttl=0", expect=5)
        self.assertIn("has expired", ended.stderr)

    def test_of_several_the_first_bad_end_gives_the_exit_code(self):
        good = self.submit("errand.echo", "1")
        failed = self.fail_a_task()
        cancelled = self.submit("errand.echo")
        self.errand("cancel", cancelled)
        ended = self.errand("wait", good, cancelled, failed, good, expect=3)
        self.assertEqual(ended.stdout, "1\n1\n")
        self.assertEqual(ended.stderr.count("errand: "), 2)

    def test_waiting_for_a_storage_that_is_not_there(self):
        ended = self.errand("wait", UNKNOWN_ID, expect=6)
        self.assertIn("errand setup", ended.stderr)
        self.assertFalse(self.database.exists())

    def test_the_chain_of_causes_is_told(self):
        task = self.submit("errand.echo")
        self.drain()
        error = {
            "class": "Outer", "message": "could not", "code": 0, "file": "a.php", "line": 3,
            "trace": "", "previous": {"class": "Inner", "message": "because"},
        }  # fmt: skip
        import sqlite3

        with sqlite3.connect(self.database) as database:
            database.execute(
                "UPDATE async_tasks SET status = 'failed', result = NULL, error = ?",
                [json.dumps(error)],
            )
        database.close()
        ended = self.errand("wait", task, expect=1)
        self.assertEqual(
            ended.stderr,
            f"errand: task {task} failed: Outer: could not\n"
            "  thrown at a.php:3\n"
            "  caused by Inner: because\n",
        )


if __name__ == "__main__":
    unittest.main()
