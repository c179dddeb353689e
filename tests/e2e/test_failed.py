import json
import unittest

from errand_program import UNKNOWN_ID, ErrandTest, Terminal


class Failed(ErrandTest):
    def test_list_shows_failed_tasks_with_their_errors(self):
        task = self.fail_a_task("no mail today")
        self.submit("errand.echo")
        lines = self.errand("failed", "list").stdout.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], rf"^{task}  errand\.fail  default .*  no mail today \([\w:]+\)$")
        page = self.json("failed", "list")
        self.assertEqual([item["taskId"] for item in page["items"]], [task])
        self.assertEqual(json.loads(page["items"][0]["error"])["message"], "no mail today")

    def test_list_filters(self):
        self.fail_a_task()
        self.assertEqual(self.json("failed", "list", "--type", "errand.fail")["total"], 1)
        self.assertEqual(self.json("failed", "list", "--type", "other")["total"], 0)
        self.assertEqual(self.json("failed", "list", "--queue", "mail")["total"], 0)

    def test_list_filters_by_class_of_error(self):
        lines = '{"message":"x"}\n' * 3
        self.errand("submit", "errand.fail", "--max-retries", "0", "--jsonl", "-", input=lines)
        self.submit("no.handler", "--max-retries", "0")
        self.drain()
        groups = {group["type"]: group["class"] for group in self.json("failed", "list", "--stats")}
        page = self.json("failed", "list", "--class", groups["errand.fail"], "--page-size", "2",
                         "--page", "2")  # fmt: skip
        self.assertEqual((page["total"], page["total_pages"], len(page["items"])), (3, 2, 1))
        page = self.json("failed", "list", "--class", groups["no.handler"])
        self.assertEqual([item["type"] for item in page["items"]], ["no.handler"])
        self.assertEqual(self.json("failed", "list", "--class", "None")["total"], 0)
        (group,) = self.json("failed", "list", "--stats", "--class", groups["no.handler"])
        self.assertEqual(group["count"], 1)

    def test_long_messages_are_cut_in_the_list_only(self):
        message = "x" * 500
        task = self.fail_a_task(message)
        line = self.errand("failed", "list").stdout.splitlines()[1]
        self.assertRegex(line, r" x{199}… \([\w:]+\)$")
        self.assertIn(message, self.errand("failed", "show", task).stdout)
        self.assertIn(message, self.json("failed", "list")["items"][0]["error"])

    def test_stats_count_by_type_and_class_of_error(self):
        self.fail_a_task()
        self.fail_a_task()
        groups = self.json("failed", "list", "--stats")
        self.assertEqual(len(groups), 1)
        self.assertEqual(groups[0]["type"], "errand.fail")
        self.assertEqual(groups[0]["count"], 2)
        self.assertIn("lastFailedAt", groups[0])
        self.assertRegex(
            self.errand("failed", "list", "--stats").stdout, r"TASKS +TYPE +ERROR +LAST\n +2 "
        )
        self.assertEqual(self.json("failed", "list", "--stats", "--type", "other"), [])

    def test_show(self):
        task = self.fail_a_task("no mail today")
        self.assertIn("no mail today", self.errand("failed", "show", task).stdout)
        self.assertEqual(self.json("failed", "show", task)["status"], "failed")

    def test_show_of_a_task_that_did_not_fail(self):
        task = self.submit("errand.echo")
        self.assertIn("is pending", self.errand("failed", "show", task, expect=1).stderr)
        self.errand("failed", "show", UNKNOWN_ID, expect=5)

    def test_show_works_for_an_expired_task(self):
        task = self.fail_a_task()
        self.errand("failed", "show", task, "--dsn", f"sqlite:{self.database}?ttl=0")


class Retry(ErrandTest):
    def test_by_id(self):
        task = self.fail_a_task()
        ended = self.errand("failed", "retry", task)
        self.assertEqual(ended.stdout, "Queued again 1 task\n")
        record = self.json("status", task)
        self.assertEqual((record["status"], record["attempts"]), ("pending", 0))

    def test_a_cancelled_task_by_its_id(self):
        task = self.submit("errand.echo")
        self.errand("cancel", task)
        self.assertEqual(self.json("failed", "retry", task), {"retried": 1})

    def test_a_task_that_did_not_fail_is_left_alone(self):
        task = self.submit("errand.echo")
        self.drain()
        failed = self.fail_a_task()
        ended = self.errand("failed", "retry", task, failed, UNKNOWN_ID, expect=1)
        self.assertEqual(ended.stdout, "Queued again 1 task\n")
        self.assertIn(f"task {task} is completed, not failed", ended.stderr)
        self.assertIn(f"no task {UNKNOWN_ID}", ended.stderr)

    def test_an_unknown_task(self):
        task = self.fail_a_task()
        self.errand("failed", "retry", UNKNOWN_ID, task, expect=5)
        self.errand("failed", "remove", UNKNOWN_ID, expect=5)

    def test_by_class_of_error(self):
        self.fail_a_task()
        self.submit("no.handler", "--max-retries", "0")
        self.drain()
        arguments = ("--class", "errand::HandlerNotFound")
        self.assertEqual(self.json("failed", "retry", *arguments), {"retried": 1})
        self.assertEqual(self.json("failed", "retry", *arguments), {"retried": 0})
        self.assertEqual(self.json("stats")["tasks"]["failed"], 1)

    def test_by_type_and_all(self):
        self.fail_a_task()
        self.submit("no.handler", "--max-retries", "0")
        self.drain()
        self.assertEqual(self.json("stats")["tasks"]["failed"], 2)
        self.assertEqual(self.json("failed", "retry", "--type", "errand.fail"), {"retried": 1})
        self.assertEqual(self.json("stats")["tasks"]["failed"], 1)
        self.assertEqual(self.json("failed", "retry", "--all"), {"retried": 1})
        self.assertEqual(self.json("failed", "retry", "--all"), {"retried": 0})

    def test_more_than_one_batch(self):
        lines = '{"message":"x"}\n' * 2_500
        self.errand("submit", "errand.fail", "--max-retries", "0", "--jsonl", "-", input=lines)
        self.drain()
        self.assertEqual(self.json("failed", "list", "--stats")[0]["count"], 2_500)
        self.assertEqual(self.json("failed", "retry", "--all"), {"retried": 2_500})
        self.assertEqual(self.json("stats")["tasks"]["pending"], 2_500)

    def test_which_tasks_must_be_said(self):
        self.errand("failed", "retry", expect=2)
        self.errand("failed", "retry", UNKNOWN_ID, "--all", expect=2)


class Remove(ErrandTest):
    def test_by_id_without_asking(self):
        task = self.fail_a_task()
        self.assertEqual(self.errand("failed", "remove", task).stdout, "Removed 1 task\n")
        self.errand("status", task, expect=5)

    def test_completed_tasks_are_not_removed(self):
        task = self.submit("errand.echo")
        self.drain()
        self.errand("failed", "remove", task, expect=1)
        self.assertEqual(self.json("status", task)["status"], "completed")

    def test_many_need_a_word_of_consent(self):
        self.fail_a_task()
        self.fail_a_task()
        for choice in (["--all"], ["--type", "errand.fail"]):
            ended = self.errand("failed", "remove", *choice, expect=2)
            self.assertIn("this would remove 2 tasks for good: add --yes", ended.stderr)
        self.assertEqual(self.json("failed", "remove", "--all", "--yes"), {"removed": 2})
        self.assertEqual(self.json("list")["total"], 0)

    def test_by_class_of_error(self):
        self.fail_a_task()
        self.submit("no.handler", "--max-retries", "0")
        self.drain()
        arguments = ("failed", "remove", "--class", "errand::HandlerNotFound")
        self.assertIn("remove 1 task for good", self.errand(*arguments, expect=2).stderr)
        self.assertEqual(self.json(*arguments, "--yes"), {"removed": 1})
        self.assertEqual(self.json("failed", "list")["total"], 1)

    def test_interactive_retry_asks_about_each(self):
        tasks = [self.fail_a_task(message) for message in ("one", "two", "three", "four")]
        terminal = Terminal(self, "failed", "retry", "--interactive")
        for number, answer in enumerate(("r", "nonsense", "d", "s", "q")):
            terminal.wait_for(("1 of 4", "2 of 4", "2 of 4", "3 of 4", "4 of 4")[number])
            terminal.type(answer + "\n")
        self.assertIn("1 sent again, 1 removed, 2 left", terminal.end())
        left = {item["taskId"] for item in self.json("failed", "list")["items"]}
        self.assertEqual(left, {tasks[1], tasks[0]})
        self.assertEqual(self.json("status", tasks[3])["status"], "pending")
        self.errand("status", tasks[2], expect=5)

    def test_interactive_retry_needs_a_terminal(self):
        refused = self.errand("failed", "retry", "--interactive", expect=2)
        self.assertIn("needs a terminal", refused.stderr)


if __name__ == "__main__":
    unittest.main()
