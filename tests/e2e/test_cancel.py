import unittest

from errand_program import UNKNOWN_ID, ErrandTest


class Cancel(ErrandTest):
    def test_a_waiting_task_is_cancelled_at_once(self):
        task = self.submit("errand.echo")
        self.assertEqual(self.errand("cancel", task).stdout, f"{task} cancelled\n")
        self.assertEqual(self.json("status", task)["status"], "cancelled")

    def test_a_running_task_is_asked_to_stop(self):
        task = self.submit("errand.sleep", '{"ms":3600000}')
        self.start_worker()
        self.wait_for_status(task, "running")
        self.assertIn("asked to stop", self.errand("cancel", task).stdout)
        self.errand("wait", task, "--timeout", "60s", expect=3)

    def test_cancelling_twice_is_fine(self):
        task = self.submit("errand.echo")
        self.errand("cancel", task)
        self.assertEqual(self.errand("cancel", task).stdout, f"{task} was cancelled already\n")
        self.assertEqual(
            self.json("cancel", task), [{"taskId": task, "outcome": "already_cancelled"}]
        )

    def test_a_finished_task_cannot_be_cancelled(self):
        task = self.submit("errand.echo")
        self.drain()
        ended = self.errand("cancel", task, expect=1)
        self.assertEqual(ended.stdout, "")
        self.assertIn(f"task {task} is completed already", ended.stderr)
        self.assertEqual(
            self.json("cancel", task, expect=1), [{"taskId": task, "outcome": "already_final"}]
        )
        self.assertEqual(self.json("status", task)["status"], "completed")

    def test_an_unknown_task(self):
        task = self.submit("errand.echo")
        ended = self.errand("cancel", UNKNOWN_ID, task, expect=5)
        self.assertIn(f"no task {UNKNOWN_ID}", ended.stderr)
        self.assertEqual(self.json("status", task)["status"], "cancelled")

    def test_json_tells_the_outcome_of_each(self):
        task = self.submit("errand.echo")
        self.assertEqual(
            self.json("cancel", task, UNKNOWN_ID, expect=5),
            [
                {"taskId": task, "outcome": "cancelled"},
                {"taskId": UNKNOWN_ID, "outcome": "not_found"},
            ],
        )


class CancelMany(ErrandTest):
    def test_by_type_queue_or_all(self):
        mail = self.submit("email.send", "--queue", "mail")
        other = self.submit("email.send")
        report = self.submit("report.build", "--queue", "mail")
        self.assertEqual(
            self.errand("cancel", "--type", "email.send", "--queue", "mail").stdout,
            "Cancelled 1 task\n",
        )
        self.assertEqual(self.json("status", mail)["status"], "cancelled")
        self.assertEqual(self.json("stats")["tasks"]["pending"], 2)
        self.assertEqual(
            self.json("cancel", "--queue", "mail"), {"cancelled": 1, "requested": 0}
        )
        self.assertEqual(self.json("status", report)["status"], "cancelled")
        self.assertEqual(self.errand("cancel", "--all").stdout, "Cancelled 1 task\n")
        self.assertEqual(self.json("status", other)["status"], "cancelled")
        self.assertEqual(self.errand("cancel", "--all").stdout, "Cancelled 0 tasks\n")

    def test_running_tasks_are_asked(self):
        running = self.submit("errand.sleep", '{"ms":3600000}')
        self.start_worker("--concurrency", "1")
        self.wait_for_status(running, "running")
        self.submit("errand.sleep", '{"ms":3600000}', "--delay", "1h")
        self.assertEqual(
            self.errand("cancel", "--type", "errand.sleep").stdout,
            "Cancelled 1 task, asked 1 running task to stop\n",
        )
        self.errand("wait", running, "--timeout", "60s", expect=3)

    def test_more_than_one_batch(self):
        self.errand("submit", "t", "--jsonl", "-", input="1\n" * 2_500)
        self.assertEqual(self.json("cancel", "--all"), {"cancelled": 2_500, "requested": 0})

    def test_which_tasks_must_be_said(self):
        self.assertIn("which tasks?", self.errand("cancel", expect=2).stderr)
        self.errand("cancel", UNKNOWN_ID, "--all", expect=2)

    def test_an_empty_filter_does_not_mean_all(self):
        self.submit("email.send", "--queue", "mail")
        ended = self.errand("cancel", "--queue", "mail", "--type", "", expect=2)
        self.assertIn("--type: it is empty", ended.stderr)
        self.errand("failed", "remove", "--yes", "--all", "--class", "", expect=2)
        self.assertEqual(self.json("stats")["tasks"]["pending"], 1)


if __name__ == "__main__":
    unittest.main()
