import json
import unittest

from http_server import HttpTest

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


class Trace(HttpTest):
    def test_the_trace_travels_from_the_request_to_the_command(self):
        self.start_server("--worker", "--exec", "show=printf '\"%s\"' \"$TRACEPARENT\"")
        task = self.post("/api/tasks", {"type": "show"}, 201, headers={"traceparent": PARENT})
        task = task["taskId"]
        self.assertEqual(self.result(task)["result"], f'"{PARENT}"')
        self.assertEqual(self.get(f"/api/tasks/{task}")["headers"], {"traceparent": PARENT})

    def test_what_is_no_trace_is_dropped(self):
        self.start_server()
        for parent in ("x", PARENT + "x", PARENT.upper(), f"00-{'0' * 32}-00f067aa0ba902b7-01"):
            task = self.post("/api/tasks", {"type": "t"}, 201, headers={"traceparent": parent})
            self.assertNotIn("headers", self.get(f"/api/tasks/{task['taskId']}"))

    def test_a_trace_among_the_tasks_own_headers_stays(self):
        self.start_server()
        task = self.post(
            "/api/tasks",
            {"type": "t", "headers": {"traceparent": "own"}},
            201,
            headers={"traceparent": PARENT},
        )
        self.assertEqual(
            self.get(f"/api/tasks/{task['taskId']}")["headers"], {"traceparent": "own"}
        )

    def fail_one(self, *options):
        self.start_server("--worker", *options)
        body = {"type": "errand.fail", "payload": {"message": "boom"}, "maxRetries": 0}
        task = self.post("/api/tasks", body, 201, headers={"traceparent": PARENT})["taskId"]
        self.assertEqual(self.result(task)["status"], "failed")
        _, _, log = self.stop(self.server)
        return task, [line for line in log.splitlines() if "boom" in line]

    def test_the_log_has_the_trace(self):
        _, (line,) = self.fail_one()
        self.assertTrue(line.endswith(f" trace={TRACE}"), line)

    def test_a_log_of_json_has_the_task_and_its_trace(self):
        task, (line,) = self.fail_one("--log-format", "json")
        entry = json.loads(line)
        self.assertEqual(
            {key: entry[key] for key in ("level", "taskId", "type", "attempt", "traceId")},
            {"level": "warning", "taskId": task, "type": "errand.fail", "attempt": 1,
             "traceId": TRACE},
        )
        self.assertRegex(entry["time"], r"^\d{4}-\d\d-\d\dT.*Z$")

    def test_workers_log_json_too(self):
        self.submit("errand.fail", '{"message":"bo\\u001b[31mom"}', "--max-retries", "0")
        ended = self.errand("worker", "--drain", "--log-format", "json")
        entries = [json.loads(line) for line in ended.stderr.splitlines()]
        self.assertIn("bo\x1b[31mom", " ".join(entry["message"] for entry in entries))


if __name__ == "__main__":
    unittest.main()
