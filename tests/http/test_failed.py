import pathlib
import re
import unittest

from errand_program import UNKNOWN_ID
from http_server import HttpTest


class Failed(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def fail_tasks(self, *messages, **members):
        tasks = [
            self.submit_task("errand.fail", {"message": message}, maxRetries=0, **members)
            for message in messages
        ]
        self.drain("--queue", members.get("queue", "default"))
        return tasks

    def test_the_list_has_the_errors_in_short(self):
        (task,) = self.fail_tasks("x" * 2000)
        (item,) = self.get("/api/failed")["items"]
        self.assertEqual((item["kind"], item["taskId"]), ("task", task))
        self.assertEqual(item["errorClass"], "std::runtime_error")
        self.assertLessEqual(len(item["errorMessage"]), 500)
        self.assertNotIn("payload", item)

    def test_filters_and_pages(self):
        tasks = self.fail_tasks("a", "b", "c")
        (mail,) = self.fail_tasks("d", queue="mail")
        unserved = self.submit_task("no.such.type", maxRetries=0)
        self.drain()
        page = self.get("/api/failed?page_size=2")
        self.assertEqual((page["total"], page["total_pages"]), (5, 3))
        self.assertEqual([item["taskId"] for item in page["items"]], [unserved, mail])
        page = self.get(f"/api/failed?page_size=2&cursor={page['next']}")
        self.assertEqual([item["taskId"] for item in page["items"]], [tasks[2], tasks[1]])
        self.assertEqual(self.get("/api/failed?queue=mail")["total"], 1)
        self.assertEqual(self.get("/api/failed?type=errand.fail")["total"], 4)
        by_class = self.get("/api/failed?class=std::runtime_error&page=2&page_size=3")
        self.assertEqual([item["taskId"] for item in by_class["items"]], [tasks[0]])
        self.assertEqual(by_class["total"], 4)
        self.assertEqual(self.get("/api/failed?class=none")["items"], [])

    def test_groups(self):
        self.fail_tasks("order 17 is gone")
        self.fail_tasks("order 18 is gone", "another thing")
        groups = self.get("/api/failed/groups")
        self.assertEqual((groups["looked"], groups["total"]), (3, 3))
        self.assertEqual([group["count"] for group in groups["items"]], [2, 1])
        self.assertEqual(groups["items"][0]["message"], "order 18 is gone")
        self.assertEqual(self.get("/api/failed/groups?type=other")["items"], [])

    def test_a_group_is_chosen_by_its_pattern(self):
        self.fail_tasks("order 17 is gone", "order 18 is gone", "another thing", "")
        first, *_ = self.get("/api/failed/groups")["items"]
        self.assertEqual(first["pattern"], "order # is gone")
        query = "?type=errand.fail&class=std::runtime_error&pattern=order%20%23%20is%20gone"
        self.assertEqual(self.get("/api/failed" + query)["total"], 2)
        self.assertEqual(len(self.get("/api/failed/groups" + query)["items"]), 1)
        group = {name: first[name] for name in ("type", "class", "pattern")}
        self.assertEqual(self.post("/api/failed/retry", group), {"retried": 2})
        self.assertEqual(self.post("/api/failed/remove", {"pattern": ""}), {"removed": 1})
        self.ask("POST", "/api/failed/remove", {"pattern": 1}, expect=422)
        self.assertEqual(self.get("/api/failed")["total"], 1)

    def test_errors_are_read_without_payloads(self):
        """However large the payloads: what a request costs in memory is bounded."""
        payload = {"message": "boom", "ballast": "x" * 4_000_000}
        for _ in range(25):
            self.submit_task("errand.fail", payload, maxRetries=0)
        self.drain()
        self.get("/api/failed")
        before = self.peak_memory()
        for path in ("/api/failed", "/api/failed/groups", "/api/failed?class=std::runtime_error"):
            self.get(path)
        listed = self.get("/api/tasks?documents=true&page_size=100")["items"]
        self.assertLess(self.peak_memory() - before, 80 << 20)
        with_documents = [item for item in listed if "payload" in item]
        self.assertIn(len(with_documents), (2, 3))
        left_out = [item for item in listed if item.get("documentsLeftOut")]
        self.assertEqual(len(with_documents) + len(left_out), 25)
        removed = self.post("/api/failed/remove", {"class": "std::runtime_error"})
        self.assertEqual(removed, {"removed": 25})
        self.assertLess(self.peak_memory() - before, 80 << 20)

    def peak_memory(self):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10

    def test_a_transport_without_the_kind_is_refused(self):
        for path in ("/api/failed", "/api/failed/groups", f"/api/failed/{UNKNOWN_ID}"):
            problem = self.ask("GET", path + "?transport=failed", expect=400).json
            self.assertEqual(problem["parameter"], "transport")

    def test_one_failure(self):
        (task,) = self.fail_tasks("boom")
        shown = self.get(f"/api/failed/{task}")
        self.assertEqual(shown["error"]["message"], "boom")
        self.assertEqual(shown["task"]["taskId"], task)
        self.ask("GET", f"/api/failed/{UNKNOWN_ID}", expect=404)
        open_task = self.submit_task()
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/retry")):
            problem = self.ask(method, f"/api/failed/{open_task}{path}", expect=409).json
            self.assertEqual(problem["taskStatus"], "pending")

    def test_retry_and_remove_one(self):
        first, second = self.fail_tasks("a", "b")
        self.assertEqual(self.post(f"/api/failed/{first}/retry")["status"], "pending")
        self.ask("DELETE", f"/api/failed/{second}", expect=204)
        self.ask("GET", f"/api/tasks/{second}", expect=404)

    def test_retry_by_id_leaves_others_alone(self):
        first, second = self.fail_tasks("a", "b")
        open_task = self.submit_task()
        self.post(f"/api/tasks/{open_task}/cancel")
        body = {"taskIds": [first, open_task, UNKNOWN_ID]}
        answer = self.post("/api/failed/retry", body)
        self.assertEqual(answer["retried"], 1)
        self.assertEqual(
            answer["skipped"],
            [
                {"taskId": open_task, "reason": "cancelled"},
                {"taskId": UNKNOWN_ID, "reason": "not found"},
            ],
        )
        self.assertEqual(self.get(f"/api/tasks/{open_task}")["status"], "cancelled")
        self.assertEqual(self.get(f"/api/tasks/{second}")["status"], "failed")

    def test_remove_by_filter_and_all(self):
        self.fail_tasks("a", "b")
        self.fail_tasks("c", queue="mail")
        self.assertEqual(self.post("/api/failed/remove", {"queue": "mail"}), {"removed": 1})
        self.assertEqual(self.post("/api/failed/remove", {"class": "none"}), {"removed": 0})
        self.assertEqual(
            self.post("/api/failed/retry", {"class": "std::runtime_error"}), {"retried": 2}
        )
        self.drain()
        self.assertEqual(self.post("/api/failed/remove", {"all": True}), {"removed": 2})

    def test_a_choice_must_be_made(self):
        self.fail_tasks("a")
        for body in (
            {},
            {"all": False},
            {"all": True, "type": "t"},
            {"taskIds": []},
            {"taskIds": ["x"]},
            {"taskIds": "x"},
            {"taskIds": [UNKNOWN_ID], "all": True},
            {"type": ""},
            {"type": 1},
            {"status": "failed"},
            {"ids": ["1"]},
            {"all": True, "transport": "failed"},
            {"kind": "letter", "all": True},
            {"kind": "message"},
            {"kind": "message", "taskIds": [UNKNOWN_ID]},
            {"kind": "message", "queue": "mail"},
            {"kind": "message", "ids": [1]},
            [],
        ):
            for verb in ("retry", "remove"):
                self.post(f"/api/failed/{verb}", body, expect=422)
        self.ask("POST", "/api/failed/remove", "{", {"Content-Type": "application/json"}, expect=400)
        headers = {"Content-Type": "application/json"}
        problem = self.ask("POST", "/api/failed/remove", '{"x":1e400}', headers, expect=400).json
        self.assertEqual(
            problem["detail"], "number out of range at byte 5: a double cannot hold 1e400"
        )
        self.ask("POST", "/api/failed/remove", '{"all":true}', expect=415)
        self.assertEqual(self.get("/api/failed")["total"], 1)


if __name__ == "__main__":
    unittest.main()
