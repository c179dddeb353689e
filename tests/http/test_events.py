import unittest

from errand_program import UNKNOWN_ID
from http_server import Events, HttpTest
from openapi_check import mistakes


class EventStream(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def has(self, task, status):
        return lambda name, data: name == "tasks" and any(
            item["taskId"] == task and item["status"] == status for item in data["items"]
        )

    def test_stats_come_at_once_and_with_every_change(self):
        events = Events(self, "?topics=stats")
        name, data = events.next()
        self.assertEqual(name, "stats")
        self.assertEqual(mistakes(data, {"$ref": "#/components/schemas/Sample"}), [])
        self.submit_task()
        data = events.wait_for(lambda name, data: data["tasks"]["pending"] == 1)
        self.assertEqual(mistakes(data, {"$ref": "#/components/schemas/Sample"}), [])

    def test_tasks_are_told_from_submit_to_end(self):
        events = Events(self, "?topics=tasks")
        self.listening(1)
        task = self.submit_task()
        data = events.wait_for(self.has(task, "pending"))
        schema = {"$ref": "#/components/schemas/TaskSummary"}
        self.assertEqual([mistakes(item, schema) for item in data["items"]], [[]])
        self.drain()
        events.wait_for(self.has(task, "completed"))

    def test_changes_by_other_processes_are_told(self):
        events = Events(self, "?topics=tasks")
        self.listening(1)
        task = self.submit("errand.echo")
        events.wait_for(self.has(task, "pending"))
        self.errand("cancel", task)
        events.wait_for(self.has(task, "cancelled"))

    def test_one_task_alone_however_old(self):
        old = self.submit_task()
        lines = '{"type":"errand.echo","delay":"1h"}\n' * 300
        self.ask("POST", "/api/tasks", lines, {"Content-Type": "application/x-ndjson"}, expect=201)
        events = Events(self, f"?topics=tasks&task={old}")
        self.listening(1)
        self.submit_task()
        self.post(f"/api/tasks/{old}/cancel")
        data = events.wait_for(lambda name, data: name == "tasks" and data["items"])
        self.assertEqual([item["taskId"] for item in data["items"]], [old])
        self.ask("DELETE", f"/api/tasks/{old}", expect=204)
        data = events.wait_for(lambda name, data: name == "removed")
        self.assertEqual(data, {"taskIds": [old]})

    def test_who_listens_to_one_task_is_told_that_more_has_changed(self):
        """More tasks at once than an event names: the one may be among them."""
        old = self.submit_task()
        events = Events(self, f"?topics=tasks&task={old}")
        self.listening(1)
        lines = '{"type":"errand.echo"}\n' * 1000
        self.ask("POST", "/api/tasks", lines, {"Content-Type": "application/x-ndjson"}, expect=201)
        self.drain()
        events.wait_for(lambda name, data: name == "tasks" and data["more"])

    def test_more_tasks_are_watched_than_one_look_takes(self):
        lines = '{"type":"t","delay":"1h"}\n' * 1300
        headers = {"Content-Type": "application/x-ndjson"}
        ids = self.ask("POST", "/api/tasks", lines, headers, expect=201).json["taskIds"]
        streams = [
            Events(self, f"?topics=tasks&task={','.join(ids[i : i + 20])}")
            for i in range(0, len(ids), 20)
        ]
        self.listening(len(streams))
        self.post("/api/queues/default/purge")
        for stream in streams:
            told = set()
            while len(told) < 20:
                name, data = stream.next()
                if name == "removed":
                    told.update(data["taskIds"])

    def listening(self, streams):
        """Waits until the server has looked once for them: changes from then on are told."""
        self.wait_until(
            lambda: f"errand_http_event_streams {streams}"
            in self.ask("GET", "/metrics").body.decode(),
            "nobody listens",
        )
        counted = self.lists()
        self.wait_until(lambda: self.lists() >= counted + 4, "the server does not look")

    def lists(self):
        for line in self.ask("GET", "/metrics").body.decode().splitlines():
            if line.startswith('errand_engine_call_seconds_count{operation="list"}'):
                return int(line.split()[-1])
        return 0

    def test_wrong_parameters(self):
        for query, parameter in (
            ("topics=weather", "topics"),
            ("task=17", "task"),
            ("task=" + ",".join([UNKNOWN_ID] * 21), "task"),
            ("since=1", "since"),
        ):
            problem = self.ask("GET", f"/api/events?{query}", expect=400).json
            self.assertEqual(problem["parameter"], parameter)

    def test_streams_end_with_the_server(self):
        events = Events(self)
        self.assertEqual(events.next()[0], "stats")
        code, _, log = self.stop(self.server)
        self.assertEqual(code, 0, log)
        rest = events.response.read()
        self.assertTrue(rest == b"" or rest.endswith(b"\n\n"), rest)


if __name__ == "__main__":
    unittest.main()
