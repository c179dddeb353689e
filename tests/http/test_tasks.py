import threading
import time
import unittest

from errand_program import UNKNOWN_ID
from http_server import HttpTest


class Tasks(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def test_a_task_can_be_read(self):
        task = self.submit_task(payload={"a": 1}, queue="mail", priority=3)
        record = self.get(f"/api/tasks/{task}")
        self.assertEqual(record["status"], "pending")
        self.assertEqual(record["payload"], '{"a": 1}')
        self.assertEqual((record["queue"], record["priority"]), ("mail", 3))
        self.assertEqual(record, self.json("status", task))

    def test_unknown_tasks_are_404(self):
        for method, path in (
            ("GET", ""),
            ("GET", "/result"),
            ("GET", "/result?wait=1s"),
            ("DELETE", ""),
            ("POST", "/cancel"),
            ("POST", "/retry"),
        ):
            for task in (UNKNOWN_ID, "no-id", "%F0%9F%98%80"):
                problem = self.ask(method, f"/api/tasks/{task}{path}", expect=404).json
                self.assertEqual(problem["type"], "urn:errand:task-not-found")

    def test_the_result_of_an_open_task_is_accepted_not_there(self):
        task = self.submit_task()
        answer = self.ask("GET", f"/api/tasks/{task}/result", expect=202)
        self.assertEqual(answer.json, {"taskId": task, "status": "pending"})
        begin = time.monotonic()
        self.ask("GET", f"/api/tasks/{task}/result?wait=300ms", expect=202)
        self.assertGreaterEqual(time.monotonic() - begin, 0.3)

    def test_a_waiting_client_gets_the_result_when_it_is_there(self):
        task = self.submit_task(payload=[1, 2])
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(self.result(task)))
        waiting.start()
        self.wait_until(
            lambda: "errand_http_long_polls 1" in self.ask("GET", "/metrics").body.decode(),
            "nobody waits",
        )
        self.drain()
        waiting.join()
        self.assertEqual(answers, [{"taskId": task, "status": "completed", "result": "[1, 2]"}])

    def test_the_result_of_a_failure_is_its_error(self):
        task = self.submit_task("errand.fail", {"message": "no"}, maxRetries=0)
        self.drain()
        outcome = self.result(task)
        self.assertEqual(outcome["status"], "failed")
        self.assertIn('"message":"no"', outcome["error"])

    def test_an_expired_result_is_gone(self):
        self.environment["ERRAND_DSN"] += "?ttl=1"
        self.stop(self.server)
        self.start_server()
        task = self.submit_task()
        self.drain()
        self.wait_until(
            lambda: self.ask("GET", f"/api/tasks/{task}/result").status == 410, "it never expires"
        )
        self.assertTrue(self.get(f"/api/tasks/{task}")["expired"])

    def test_waiting_has_a_limit(self):
        task = self.submit_task()
        for wait in ("61s", "forever", "-1s"):
            problem = self.ask("GET", f"/api/tasks/{task}/result?wait={wait}", expect=400).json
            self.assertEqual(problem["parameter"], "wait")

    def test_cancel(self):
        task = self.submit_task()
        self.assertEqual(self.post(f"/api/tasks/{task}/cancel")["outcome"], "cancelled")
        self.assertEqual(self.post(f"/api/tasks/{task}/cancel")["outcome"], "already_cancelled")
        done = self.submit_task()
        self.drain()
        problem = self.post(f"/api/tasks/{done}/cancel", expect=409)
        self.assertEqual(problem["taskStatus"], "completed")

    def test_cancel_of_a_running_task_is_a_request(self):
        task = self.submit_task("errand.sleep", {"ms": 60000})
        self.start_worker()
        self.wait_for_status(task, "running")
        self.assertEqual(self.post(f"/api/tasks/{task}/cancel")["outcome"], "requested")
        self.assertEqual(self.result(task)["status"], "cancelled")

    def test_retry(self):
        task = self.submit_task()
        self.assertEqual(self.post(f"/api/tasks/{task}/retry", expect=409)["taskStatus"], "pending")
        self.post(f"/api/tasks/{task}/cancel")
        again = self.post(f"/api/tasks/{task}/retry", {})
        self.assertEqual(again["status"], "pending")
        self.drain()
        self.assertEqual(self.result(task)["status"], "completed")

    def test_delete(self):
        task = self.submit_task()
        self.ask("DELETE", f"/api/tasks/{task}", expect=409)
        self.post(f"/api/tasks/{task}/cancel")
        self.assertEqual(self.ask("DELETE", f"/api/tasks/{task}", expect=204).body, b"")
        self.ask("GET", f"/api/tasks/{task}", expect=404)

    def test_head_is_get_without_the_body(self):
        task = self.submit_task()
        answer = self.ask("HEAD", f"/api/tasks/{task}", expect=200)
        self.assertEqual(answer.body, b"")
        self.assertGreater(int(answer.headers["Content-Length"]), 100)


class List(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def ids(self, query=""):
        return [item["taskId"] for item in self.get("/api/tasks" + query)["items"]]

    def test_filters(self):
        mail = self.submit_task("email.send", queue="mail")
        echo = self.submit_task()
        cancelled = self.submit_task()
        self.post(f"/api/tasks/{cancelled}/cancel")
        self.assertEqual(self.ids(), [cancelled, echo, mail])
        self.assertEqual(self.ids("?type=email.send"), [mail])
        self.assertEqual(self.ids("?queue=mail"), [mail])
        self.assertEqual(self.ids("?status=pending,cancelled&type=errand.echo"), [cancelled, echo])
        self.assertEqual(self.ids("?status=&type="), [cancelled, echo, mail])
        self.assertEqual(self.ids("?status=failed"), [])

    def test_pages_by_number(self):
        tasks = [self.submit_task() for _ in range(5)]
        page = self.get("/api/tasks?page=2&page_size=2")
        self.assertEqual([item["taskId"] for item in page["items"]], [tasks[2], tasks[1]])
        self.assertEqual(
            {key: page[key] for key in ("total", "page", "page_size", "total_pages")},
            {"total": 5, "page": 2, "page_size": 2, "total_pages": 3},
        )
        self.assertNotIn("next", self.get("/api/tasks?page=3&page_size=2"))
        self.assertEqual(self.get("/api/tasks?page=9")["items"], [])

    def test_pages_by_cursor_stay_in_place_while_tasks_come(self):
        tasks = [self.submit_task() for _ in range(5)]
        seen, page, number = [], self.get("/api/tasks?page_size=2"), 1
        while True:
            seen += [item["taskId"] for item in page["items"]]
            self.assertEqual(page["page"], number)
            if "next" not in page:
                break
            self.submit_task()
            page = self.get(f"/api/tasks?page_size=2&cursor={page['next']}")
            number += 1
        self.assertEqual(seen, tasks[::-1])

    def test_documents_come_if_asked_for(self):
        self.submit_task(payload={"big": True})
        self.assertNotIn("payload", self.get("/api/tasks")["items"][0])
        found = self.ask("GET", "/api/tasks?documents=true", expect=200)
        self.assertIn("payload", found.json["items"][0])
        self.ask("GET", "/api/tasks?documents=true&page_size=101", expect=400)

    def test_wrong_parameters_are_named(self):
        for query, parameter in (
            ("cursor=9223372036854775807.3", "cursor"),
            ("cursor=1.-3", "cursor"),
            ("page=0", "page"),
            ("page=x", "page"),
            ("page=1.5", "page"),
            ("page=99999999999999999999", "page"),
            ("page_size=0", "page_size"),
            ("page_size=1001", "page_size"),
            ("status=done", "status"),
            ("status=pending,done", "status"),
            ("cursor=abc", "cursor"),
            ("cursor=1.2.3", "cursor"),
            ("cursor=0.5", "cursor"),
            ("cursor=1.5&page=2", "cursor"),
            ("documents=yes", "documents"),
            ("colour=red", "colour"),
            ("type=a&type=b", "type"),
        ):
            problem = self.ask("GET", f"/api/tasks?{query}", expect=400).json
            self.assertEqual(problem["parameter"], parameter, query)
            self.assertIn(parameter, problem["detail"], query)


if __name__ == "__main__":
    unittest.main()
