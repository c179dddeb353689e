import unittest

from http_server import HttpTest


class Queues(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def queue(self, name):
        return {item["queue"]: item for item in self.get("/api/queues")["items"]}.get(name)

    def test_the_list_is_that_of_the_program(self):
        self.submit_task(queue="mail")
        self.submit_task(queue="mail", delay="1h")
        queue = self.queue("mail")
        self.assertEqual((queue["due"], queue["delayed"], queue["paused"]), (1, 1, False))
        listed = self.json("queue", "list")
        self.assertEqual([item["queue"] for item in listed], ["mail"])

    def test_a_queue_that_a_worker_serves_is_there_although_it_is_empty(self):
        self.start_worker("--queue", "idle,mail")
        self.submit_task(queue="mail", delay="1h")
        self.wait_until(lambda: self.queue("idle"), "it does not come")
        self.assertEqual((self.queue("idle")["due"], self.queue("idle")["workers"]), (0, 1))
        names = [item["queue"] for item in self.get("/api/queues")["items"]]
        self.assertEqual(names, ["idle", "mail"])

    def test_pause_and_resume(self):
        task = self.submit_task(queue="mail")
        self.assertEqual(
            self.post("/api/queues/mail/pause"),
            {"queue": "mail", "paused": True, "wasPaused": False, "tasks": 1, "workers": 0},
        )
        self.assertTrue(self.queue("mail")["paused"])
        self.drain("--queue", "mail")
        self.assertEqual(self.get(f"/api/tasks/{task}")["status"], "pending")
        self.assertEqual(
            self.post("/api/queues/mail/resume"),
            {"queue": "mail", "paused": False, "wasPaused": True, "tasks": 1, "workers": 0},
        )
        self.drain("--queue", "mail")
        self.assertEqual(self.get(f"/api/tasks/{task}")["status"], "completed")

    def test_names_of_every_kind(self):
        for name, encoded in (("a/b", "a%2Fb"), ("邮件", "%E9%82%AE%E4%BB%B6"), ("a b+c", "a%20b+c")):
            self.post(f"/api/queues/{encoded}/pause")
            self.assertTrue(self.queue(name)["paused"], name)
        self.post("/api/queues/" + "x" * 191 + "/pause", expect=422)

    def test_purge_removes_what_waits_and_nothing_else(self):
        done = self.submit_task(queue="mail")
        self.drain("--queue", "mail")
        for _ in range(3):
            self.submit_task(queue="mail")
        self.submit_task(queue="mail", delay="1h")
        other = self.submit_task(queue="other")
        self.assertEqual(self.post("/api/queues/mail/purge"), {"queue": "mail", "purged": 4, "workers": 0})
        left = {item["taskId"] for item in self.get("/api/tasks")["items"]}
        self.assertEqual(left, {done, other})
        self.assertEqual(self.post("/api/queues/mail/purge")["purged"], 0)

    def test_bodies_are_refused_where_there_is_nothing_to_say(self):
        for verb in ("pause", "resume", "purge"):
            self.post(f"/api/queues/mail/{verb}", {"really": True}, expect=422)
            self.post(f"/api/queues/mail/{verb}?force=1", expect=400)


class Workers(HttpTest):
    def test_workers_show_what_they_run(self):
        self.start_server()
        self.start_worker("--concurrency", "2", "--lease", "1s")
        tasks = {self.submit_task("errand.sleep", {"ms": 60000}) for _ in range(2)}

        def running():
            items = self.get("/api/workers")["items"]
            return {task["taskId"] for item in items for task in item["tasks"]}

        self.wait_until(lambda: running() == tasks, "the worker does not show its tasks")
        (worker,) = self.get("/api/workers")["items"]
        self.assertEqual(worker["concurrency"], 2)
        self.assertEqual(worker["queues"], ["default"])
        self.assertEqual(worker["tasks"][0]["worker"], worker["worker"])

    def test_a_server_with_a_worker_runs_tasks_itself(self):
        self.start_server("--worker", "--exec", "greet=echo '\"hello\"'", "--queue", "default,mail")
        self.assertIn("greet", self.get("/api/session")["types"])
        task = self.submit_task("greet", queue="mail")
        self.assertEqual(self.result(task)["result"], '"hello"')

    def test_stats(self):
        self.start_server()
        self.submit_task()
        stats = self.get("/api/stats")
        self.assertEqual(stats["tasks"]["pending"], 1)
        self.assertEqual(stats.keys(), self.json("stats").keys())

    def test_history_begins_with_the_server(self):
        self.start_server()
        self.wait_until(
            lambda: self.get("/api/stats/history")["samples"], "there is no first sample"
        )
        self.assertEqual(self.get("/api/stats/history?step=60")["step"], 60)
        for step in ("7", "x", "-5"):
            problem = self.ask("GET", f"/api/stats/history?step={step}", expect=400).json
            self.assertEqual(problem["parameter"], "step")

    def test_the_newest_of_the_history(self):
        self.start_server()
        path = "/api/stats/history"
        self.wait_until(lambda: len(self.get(path)["samples"]) > 1, "there is no second sample")
        (newest,) = self.get(path + "?last=1")["samples"]
        self.assertIn(newest, self.get(path)["samples"][1:])
        self.get(path + "?last=1442")  # more than there are: all
        for last in ("0", "x"):
            problem = self.ask("GET", f"{path}?last={last}", expect=400).json
            self.assertEqual(problem["parameter"], "last")

    def test_a_stop_hands_back_what_runs(self):
        self.start_server("--worker", "--grace", "100ms")
        task = self.submit_task("errand.sleep", {"ms": 60000})
        self.wait_for_status(task, "running")
        code, _, log = self.stop(self.server)
        self.assertEqual(code, 0, log)
        record = self.json("status", task)
        self.assertEqual((record["status"], record["attempts"]), ("retrying", 0))

    def test_the_options_of_a_worker_need_one(self):
        ended = self.errand("serve", "--exec", "a=b", expect=2)
        self.assertIn("add --worker", ended.stderr)


if __name__ == "__main__":
    unittest.main()
