"""A core few on the engines that share a server."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

from errand_program import UNKNOWN_ID
from failed_messages import FailedMessages
from http_server import Events, HttpTest


class OnEngine(FailedMessages):
    def setUp(self):
        super().setUp()
        self.environment["ERRAND_DSN"] = self.dsn()
        self.start_server("--worker")

    def start_server(self, *options):
        if self.server is not None:
            self.stop(self.server)
        return super().start_server(*options)

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
    def transport_dsn(self, queue):
        return f"{self.environment['ERRAND_DSN']}&queue_name={queue}"

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
    def setUp(self):
        socket = pathlib.Path(os.environ["ERRAND_TEST_SERVERS"] + "-redis") / "redis.sock"
        self.redis = f"redis+unix://{socket}"
        self.prefix = f"http-{uuid.uuid4().hex}:"
        super().setUp()

    def transport_dsn(self, queue):
        return f"{self.redis}?dbindex=5&stream={self.prefix}{queue}"

    def dsn(self):
        return f"{self.redis}?database=5&prefix={self.prefix}"


class Hanging(HttpTest):
    """A storage that takes connections and does not answer."""

    def setUp(self):
        super().setUp()
        script = pathlib.Path(__file__).parents[1] / "servers/redis"
        server = pathlib.Path(tempfile.mkdtemp(prefix="errand-hang-", dir="/tmp"))
        subprocess.run([script, "start", server], check=True)
        self.addCleanup(subprocess.run, [script, "stop", server], check=True)
        self.process = int((server / "pid").read_text())
        self.environment["ERRAND_DSN"] = f"redis+unix://{server / 'redis.sock'}"

    def test_readiness_does_not_wait_for_it(self):
        self.start_server()
        self.get("/readyz")
        os.kill(self.process, signal.SIGSTOP)
        self.addCleanup(os.kill, self.process, signal.SIGCONT)
        self.wait_until(lambda: self.ask("GET", "/readyz").status == 503, "it is taken for ready")
        begin = time.monotonic()
        answer = self.ask("GET", "/readyz", expect=503)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(answer.json["detail"], "the storage does not answer")
        self.get("/healthz")
        self.assertEqual(self.ask("GET", "/metrics").status, 200)
        os.kill(self.process, signal.SIGCONT)
        self.wait_until(lambda: self.ask("GET", "/readyz").status == 200, "it is never ready")


if __name__ == "__main__":
    unittest.main()
