"""A core few on the engines that share a server."""

import os
import pathlib
import subprocess
import unittest
import uuid

from errand_program import UNKNOWN_ID
from http_server import Events, HttpTest


class OnEngine:
    def setUp(self):
        super().setUp()
        self.environment["ERRAND_DSN"] = self.dsn()
        self.start_server("--worker")

    def test_submit_wait_list_fail_retry(self):
        events = Events(self, "?topics=tasks")
        task = self.submit_task(payload={"a": 1})
        self.assertEqual(self.result(task)["result"], '{"a": 1}')
        failed = self.submit_task("errand.fail", maxRetries=0)
        self.assertEqual(self.result(failed)["status"], "failed")
        self.assertEqual(self.get("/api/failed")["items"][0]["taskId"], failed)
        page = self.get("/api/tasks?page_size=1")
        self.assertEqual((page["total"], page["items"][0]["taskId"]), (2, failed))
        page = self.get(f"/api/tasks?page_size=1&cursor={page['next']}")
        self.assertEqual(page["items"][0]["taskId"], task)
        self.assertEqual(self.post("/api/failed/retry", {"all": True}), {"retried": 1})
        self.assertEqual(self.result(failed)["status"], "failed")
        events.wait_for(
            lambda name, data: name == "tasks"
            and any(item["taskId"] == failed for item in data["items"])
        )

    def test_queues_and_many(self):
        self.post("/api/queues/mail/pause")
        lines = '{"type":"t","queue":"mail"}\n' * 1200
        headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": "k"}
        self.ask("POST", "/api/tasks", lines, headers, expect=201)
        self.ask("POST", "/api/tasks", lines, headers, expect=200)
        self.ask("POST", "/api/tasks", lines.replace('"t"', '"u"'), headers, expect=422)
        (queue,) = [q for q in self.get("/api/queues")["items"] if q["queue"] == "mail"]
        self.assertEqual((queue["queue"], queue["paused"], queue["due"]), ("mail", True, 1200))
        self.assertEqual(self.post("/api/queues/mail/purge")["purged"], 1200)
        self.assertEqual(self.get("/api/stats")["tasks"]["pending"], 0)
        self.get("/readyz")

    def test_failures_are_found_by_their_error_and_by_id(self):
        tasks = [
            self.submit_task("errand.fail", {"message": f"order {i} is gone"}, maxRetries=0)
            for i in range(3)
        ]
        for task in tasks:
            self.assertEqual(self.result(task)["status"], "failed")
        (group,) = self.get("/api/failed/groups")["items"]
        self.assertEqual((group["count"], group["pattern"]), (3, "order # is gone"))
        listed = self.get("/api/failed?class=std::runtime_error")
        self.assertEqual((listed["total"], listed["looked"], listed["truncated"]), (3, 3, False))
        answer = self.post("/api/failed/remove", {"taskIds": tasks + [UNKNOWN_ID]})
        self.assertEqual(answer["removed"], 3)
        self.assertEqual(answer["skipped"], [{"taskId": UNKNOWN_ID, "reason": "not found"}])


class Postgres(OnEngine, HttpTest):
    def dsn(self):
        socket = os.environ["ERRAND_TEST_SERVERS"] + "-postgres"
        schema = "http_" + uuid.uuid4().hex
        server = f"postgresql:///postgres?user=errand&host={socket}"
        psql = ["psql", "-qX", server, "-c"]
        subprocess.run([*psql, f"CREATE SCHEMA {schema}"], check=True)
        self.addCleanup(
            subprocess.run, [*psql, f"DROP SCHEMA {schema} CASCADE"], check=True,
            stderr=subprocess.DEVNULL,
        )
        return f"{server}&options=-csearch_path%3D{schema}"


class Redis(OnEngine, HttpTest):
    def dsn(self):
        socket = pathlib.Path(os.environ["ERRAND_TEST_SERVERS"] + "-redis") / "redis.sock"
        prefix = "http-" + uuid.uuid4().hex
        return f"redis+unix://{socket}?database=5&prefix={prefix}:"


if __name__ == "__main__":
    unittest.main()
