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
        self.errand("cancel", task)

    def test_a_finished_task_cannot_be_cancelled(self):
        task = self.submit("errand.echo")
        self.drain()
        ended = self.errand("cancel", task, expect=1)
        self.assertIn(f"task {task} is completed already", ended.stderr)
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


if __name__ == "__main__":
    unittest.main()
