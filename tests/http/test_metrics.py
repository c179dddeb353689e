import json
import pathlib
import re
import unittest

from built_program import wait_for_text
from http_server import READ_TOKEN, HttpTest

GRAFANA = pathlib.Path(__file__).parents[2] / "docs/grafana-dashboard.json"


class Metrics(HttpTest):
    def metrics(self):
        """{name{labels}: value}"""
        answer = self.ask("GET", "/metrics", expect=200)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        lines = [line for line in answer.body.decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def test_what_a_worker_does_is_counted_by_type_and_queue(self):
        self.start_server("--worker", "--queue", "default,mail")
        self.result(self.submit_task(queue="mail"))
        self.result(self.submit_task("errand.fail", maxRetries=0))
        retried = self.submit_task("errand.fail", maxRetries=1, retryDelay="1h")
        self.wait_for_status(retried, "retrying")

        def kind(name, type, queue="default"):
            return f'errand_tasks_{name}_total{{queue="{queue}",type="{type}"}}'

        metrics = self.metrics()
        self.assertEqual(metrics[kind("submitted", "errand.echo", "mail")], 1)
        self.assertEqual(metrics[kind("submitted", "errand.fail")], 2)
        self.assertEqual(metrics[kind("started", "errand.fail")], 2)
        self.assertEqual(metrics[kind("completed", "errand.echo", "mail")], 1)
        self.assertEqual(metrics[kind("failed", "errand.fail")], 1)
        self.assertEqual(metrics[kind("retried", "errand.fail")], 1)
        for name in ("errand_task_duration_seconds", "errand_task_wait_seconds"):
            self.assertEqual(metrics[name + '_count{queue="mail",type="errand.echo"}'], 1)
        for name in ("submit", "claim", "settle"):
            self.assertGreaterEqual(metrics[f"errand_{name}_batch_size_count"], 2)

    def start_worker_with_metrics(self, address):
        worker = self.start("worker", "--metrics", address)
        line = wait_for_text(worker.stderr, "metrics are at")
        self.port = int(re.search(r":(\d+)/metrics", line).group(1))
        wait_for_text(worker.stderr, "serves")
        return worker

    def status(self, method, path, **headers):
        """Of an answer that the document of `errand serve` does not have."""
        connection = self.connect()
        connection.request(method, path, headers=headers)
        return connection.getresponse().status

    def test_a_worker_of_its_own_process_tells_what_it_does(self):
        worker = self.start_worker_with_metrics("127.0.0.1:0")
        self.submit("errand.echo")
        echo = 'errand_tasks_completed_total{queue="default",type="errand.echo"}'
        self.wait_until(lambda: self.metrics().get(echo) == 1, "the counter does not come")
        self.assertIn('errand_engine_call_seconds_count{operation="beat"}', self.metrics())
        self.assertEqual(self.status("GET", "/healthz"), 200)
        self.assertEqual(self.status("HEAD", "/metrics"), 200)
        self.assertEqual(self.status("GET", "/api/tasks"), 404)
        self.assertEqual(self.status("POST", "/metrics"), 405)
        self.assertEqual(self.status("GET", "/metrics", Host="evil.example"), 421)
        self.assertEqual(self.status("GET", "/metrics", X="x" * 20_000), 431)
        self.assertEqual(self.stop(worker)[0], 0)

    def test_a_workers_metrics_need_a_token_where_others_reach_them(self):
        refused = self.errand("worker", "--metrics", "0.0.0.0:0", expect=2)
        self.assertIn("ERRAND_READ_TOKEN", refused.stderr)
        self.environment["ERRAND_READ_TOKEN"] = READ_TOKEN
        self.start_worker_with_metrics("0.0.0.0:0")
        self.assertEqual(self.status("GET", "/metrics"), 401)
        self.assertEqual(self.status("GET", "/metrics", Authorization="Bearer wrong"), 401)
        authorization = f"Bearer {READ_TOKEN}"
        self.assertEqual(self.status("GET", "/metrics", Authorization=authorization), 200)
        self.assertEqual(self.status("GET", "/healthz"), 200)

    def test_an_address_that_is_taken_is_refused(self):
        self.start_worker_with_metrics("127.0.0.1:0")
        taken = self.errand("worker", "--metrics", f"127.0.0.1:{self.port}", expect=2)
        self.assertIn("--metrics takes another", taken.stderr)

    def test_queues_and_workers_are_gauges(self):
        self.start_server()
        self.start_worker("--queue", "other", "--concurrency", "3")
        self.submit_task(queue="mail")
        self.submit_task(queue="mail", delay="1h")
        self.post("/api/queues/mail/pause")
        due = 'errand_queue_tasks{queue="mail",state="due"}'
        self.wait_until(lambda: self.metrics().get(due) == 1, "the gauge does not come")
        self.wait_until(lambda: self.metrics().get("errand_workers") == 1, "no worker comes")
        metrics = self.metrics()
        self.assertEqual(metrics['errand_queue_tasks{queue="mail",state="delayed"}'], 1)
        self.assertEqual(metrics['errand_queue_paused{queue="mail"}'], 1)
        self.assertIn('errand_queue_oldest_due_seconds{queue="mail"}', metrics)
        self.assertEqual(metrics['errand_tasks{status="pending"}'], 2)
        self.assertEqual(metrics["errand_storage_up"], 1)
        (concurrency,) = [v for k, v in metrics.items() if "errand_worker_concurrency" in k]
        self.assertEqual(concurrency, 3)

    def test_clients_cannot_make_labels_without_end(self):
        self.start_server()
        lines = "\n".join(json.dumps({"type": f"type-{i}"}) for i in range(700))
        headers = {"Content-Type": "application/x-ndjson"}
        self.ask("POST", "/api/tasks", lines, headers, expect=201)
        kinds = [name for name in self.metrics() if name.startswith("errand_tasks_submitted_total")]
        self.assertEqual(len(kinds), 501)
        self.assertEqual(
            self.metrics()['errand_tasks_submitted_total{queue="other",type="other"}'], 200
        )

    def test_the_grafana_dashboard_asks_for_metrics_there_are(self):
        self.start_server("--worker")
        self.result(self.submit_task())
        self.result(self.submit_task("errand.fail", maxRetries=1, retryDelay=0))
        self.submit_task(queue="mail")
        due = 'errand_queue_tasks{queue="mail",state="due"}'
        self.wait_until(lambda: due in self.metrics(), "the gauge does not come")
        text = self.ask("GET", "/metrics").body.decode()
        known = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
        asked = set(re.findall(r"errand_\w+", json.dumps(json.loads(GRAFANA.read_text()))))
        asked = {re.sub(r"_(bucket|count|sum)$", "", name) for name in asked}
        self.assertEqual(asked - known, set())
        self.assertGreater(len(asked), 10)

    def test_health_and_readiness(self):
        self.start_server()
        self.assertEqual(self.get("/healthz"), {"status": "ok"})
        self.assertEqual(self.get("/readyz"), {"status": "ready"})


if __name__ == "__main__":
    unittest.main()
