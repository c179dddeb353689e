import unittest

from errand_program import UNKNOWN_ID, ErrandTest


class Status(ErrandTest):
    def test_one_task_is_shown_for_people(self):
        task = self.submit("errand.echo", '{"a":1}', "--queue", "mail")
        text = self.errand("status", task).stdout
        for line in (f"task       {task}", "status     pending", "type       errand.echo",
                     "queue      mail", 'payload    {"a":1}'):  # fmt: skip
            self.assertIn(line + "\n", text)
        self.assertRegex(text, r"submitted  \d{4}-\d\d-\d\dT[\d:.]+Z  .*(ago|now)\n")

    def test_one_task_as_json_is_an_object(self):
        task = self.submit("errand.echo", '{"a":1}')
        self.drain()
        record = self.json("status", task)
        self.assertEqual(record["taskId"], task)
        self.assertEqual(record["status"], "completed")
        self.assertEqual(record["result"], '{"a":1}')
        self.assertEqual(record["attempts"], 1)
        for key in ("submittedAt", "startedAt", "completedAt", "version", "maxRetries"):
            self.assertIn(key, record)

    def test_several_tasks_are_a_table_or_an_array(self):
        tasks = [self.submit("errand.echo"), self.submit("other.type")]
        lines = self.errand("status", *tasks).stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[0], r"^ID +STATUS +TYPE")
        self.assertRegex(lines[2], rf"^{tasks[1]}  pending  other\.type")
        self.assertEqual([r["taskId"] for r in self.json("status", *tasks)], tasks)

    def test_a_failed_task_shows_its_error_and_trace(self):
        text = self.errand("status", self.fail_a_task("no mail")).stdout
        self.assertRegex(text, r"error      [\w:]+: no mail\n           thrown at ")

    def test_unknown_and_expired_tasks_are_told_apart(self):
        task = self.submit("errand.echo")
        self.drain()
        ended = self.errand("status", UNKNOWN_ID, expect=5)
        self.assertEqual(ended.stdout, "")
        self.assertIn(f"no task {UNKNOWN_ID}", ended.stderr)
        ended = self.errand("status", task, "--dsn", f"sqlite:{self.database}?ttl=0", expect=5)
        self.assertIn("has expired", ended.stderr)

    def test_those_that_are_there_are_shown_beside_those_that_are_not(self):
        task = self.submit("errand.echo")
        ended = self.errand("status", UNKNOWN_ID, task, expect=5)
        self.assertIn(task, ended.stdout)
        self.assertIn(UNKNOWN_ID, ended.stderr)
        records = self.json("status", UNKNOWN_ID, task, expect=5)
        self.assertEqual([record["taskId"] for record in records], [task])

    def test_an_id_that_is_none(self):
        self.submit("errand.echo")
        for text in ("", "42", UNKNOWN_ID[:-1], UNKNOWN_ID.replace("4d8e", "1d8e")):
            self.assertIn("errand: ", self.errand("status", text, expect=2).stderr)

    def test_upper_case_ids_are_read(self):
        task = self.submit("errand.echo")
        self.assertEqual(self.json("status", task.upper())["taskId"], task)


if __name__ == "__main__":
    unittest.main()
