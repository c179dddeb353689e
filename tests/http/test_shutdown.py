import unittest

from http_server import Events, HttpTest


class Shutdown(HttpTest):
    def test_the_worker_says_what_it_serves(self):
        self.start_server("--worker", "--queue", "mail,default")
        self.assertRegex(self.server.stderr.readline(), r"worker \S+ serves mail, default")

    def test_a_busy_worker_begins_nothing_after_the_signal(self):
        """Although a request keeps the server for its last seconds."""
        self.start_server("--worker", "--concurrency", "1", "--exec", "slow=touch began; sleep 1")
        lines = '{"type":"slow"}\n' * 30
        self.ask("POST", "/api/tasks", lines, {"Content-Type": "application/x-ndjson"}, expect=201)
        self.wait_until((self.directory / "began").exists, "nothing runs")
        held = self.connect()
        held.putrequest("POST", "/api/tasks")
        held.putheader("Content-Type", "application/json")
        held.putheader("Content-Length", "100")
        held.endheaders()  # a body that never comes
        code, _, log = self.stop(self.server)
        self.assertEqual(code, 0, log)
        counts = self.json("stats")["tasks"]
        self.assertEqual(counts["running"], 0)
        # Those that ran when the signal came, and one that was begun at that moment.
        self.assertLessEqual(counts["completed"], 3)

    def test_streams_and_long_polls_end_at_once(self):
        self.start_server()
        task = self.submit_task()
        stream = Events(self, "?topics=stats")
        self.assertEqual(stream.next()[0], "stats")
        poll = self.connect()
        poll.request("GET", f"/api/tasks/{task}/result?wait=60s")
        self.wait_until(
            lambda: "errand_http_long_polls 1" in self.ask("GET", "/metrics").body.decode(),
            "nobody waits",
        )
        code, _, log = self.stop(self.server)
        self.assertEqual(code, 0, log)
        self.assertEqual(poll.getresponse().status, 202)


if __name__ == "__main__":
    unittest.main()
