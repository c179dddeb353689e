import contextlib
import sqlite3
import unittest

from http_server import HttpTest
from openapi_check import DOCUMENT


class BadInput(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def test_unknown_addresses(self):
        for path in ("/api", "/api/", "/api/nothing", "/api/tasks/", "/api/tasks/a/b/c", "/a.js"):
            self.ask("GET", path, expect=404)

    def test_other_methods_are_told_which_there_are(self):
        for path, allowed in (
            ("/api/tasks", {"GET", "HEAD", "POST"}),
            ("/api/stats", {"GET", "HEAD"}),
            ("/api/queues/mail/pause", {"POST"}),
            ("/healthz", {"GET", "HEAD"}),
            ("/index.html", {"GET", "HEAD"}),
        ):
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - allowed:
                answer = self.ask(method, path, expect=405)
                self.assertEqual(set(answer.headers["Allow"].split(", ")), allowed, method + path)

    def test_addresses_that_are_none(self):
        for path in (
            "/api/tasks?type=%",
            "/api/tasks?type=%4",
            "/api/tasks?type=%zz",
            "/api/tasks?type=%ff",
            "/api/tasks?type=%00",
            "/api/tasks/%0a",
            "/api/%2e%2e/tasks",
            "/../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/api/tasks?" + "&".join(f"a{i}=1" for i in range(65)),
        ):
            answer = self.ask("GET", path, expect=400)
            self.assertGreater(len(answer.json["detail"]), 10)

    def test_every_operation_refuses_parameters_it_does_not_know(self):
        free = {"/healthz", "/readyz", "/openapi.json"}
        for pattern, methods in DOCUMENT["paths"].items():
            path = pattern.replace("{taskId}", "0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10").replace(
                "{queue}", "mail"
            )
            for method in methods:
                if pattern in free or (pattern, method) == ("/api/tasks", "post"):
                    continue
                answer = self.ask(method.upper(), path + "?nonsense=1")
                if answer.status != 415:  # judged by its body first
                    self.assertEqual(answer.status, 400, f"{method} {path}")
                    self.assertEqual(answer.json["parameter"], "nonsense")

    def test_hostile_text_comes_back_as_text(self):
        hostile = '<script>alert(1)</script>"\u202e\\'
        task = self.submit_task("errand.echo", {"x": hostile}, headers={"note": hostile})
        answer = self.ask("GET", f"/api/tasks/{task}", expect=200)
        self.assertEqual(answer.json["headers"]["note"], hostile)
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
        problem = self.ask("GET", "/api/tasks?status=%3Cscript%3E", expect=400)
        self.assertEqual(problem.headers["Content-Type"], "application/problem+json")

    def test_a_server_does_not_start_without_a_storage(self):
        self.submit_task()
        self.database.rename(self.directory / "away.db")
        self.database.mkdir()
        self.stop(self.server)
        ended = self.errand("serve", "--listen", "127.0.0.1:0", expect=6)
        self.assertIn("tasks.db", ended.stderr)


class StorageLost(HttpTest):
    def test_requests_say_so_and_readiness_too(self):
        self.start_server()
        self.submit_task()
        self.get("/readyz")
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.execute("ALTER TABLE async_tasks RENAME TO elsewhere")
        answer = self.ask("POST", "/api/tasks", {"type": "t"}, expect=503)
        self.assertTrue(answer.json["type"].startswith("urn:errand:storage-"), answer.json)
        self.wait_until(lambda: self.ask("GET", "/readyz").status == 503, "it stays ready")
        problem = self.ask("GET", "/readyz", expect=503).json
        self.assertEqual(problem["detail"], "the storage does not answer")  # and no more
        self.ask("GET", "/healthz", expect=200)
        self.assertIn("errand_engine_errors_total", self.ask("GET", "/metrics").body.decode())


if __name__ == "__main__":
    unittest.main()
