import signal
import time
import unittest

from built_program import DEADLINE
from errand_program import ErrandTest


class Worker(ErrandTest):
    def test_drain_runs_what_is_due_and_ends(self):
        tasks = [self.submit("errand.echo", str(n)) for n in range(3)]
        later = self.submit("errand.echo", "--delay", "1h")
        self.drain()
        self.assertEqual(self.errand("wait", *tasks).stdout, "0\n1\n2\n")
        self.assertEqual(self.json("status", later)["status"], "pending")

    def test_a_running_worker_takes_what_is_submitted_and_stops_when_told(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            worker = self.start_worker()
            ended = self.errand("submit", "errand.echo", '{"a":1}', "--wait=60s")
            self.assertEqual(ended.stdout, '{"a":1}\n')
            code, out, _ = self.stop(worker, number)
            self.assertEqual((code, out), (0, ""))
            self.assertEqual(self.json("stats")["workers"], [])

    def test_the_same_wish_to_stop_told_twice_is_one(self):
        task = self.submit("errand.sleep", '{"ms":500}')
        worker = self.start_worker()
        self.wait_for_status(task, "running")
        worker.send_signal(signal.SIGINT)  # as `timeout` signals the process, and then its group;
        self.assertEqual(self.stop(worker)[0], 0)  # two of a kind may become one on their way
        self.assertEqual(self.json("status", task)["status"], "completed")

    def test_a_second_wish_to_stop_ends_it_at_once(self):
        task = self.submit("errand.sleep", '{"ms":600000}')
        worker = self.start_worker()
        self.wait_for_status(task, "running")
        worker.send_signal(signal.SIGINT)
        time.sleep(0.5)  # a person's second Ctrl-C
        code, _, said = self.stop(worker, signal.SIGINT)
        self.assertEqual(code, 128 + signal.SIGINT)
        self.assertTrue(said.endswith("stopped at once, by a second signal\n"), said)

    def test_draining_takes_what_a_dead_worker_left(self):
        task = self.submit("errand.sleep", '{"ms":300}')
        worker = self.start_worker("--lease", "500ms")
        self.wait_for_status(task, "running")
        self.stop(worker, signal.SIGKILL)
        self.wait_until(
            lambda: "1 completed" in self.errand("worker", "--drain", "--lease", "500ms").stderr,
            "nobody rescues it",
        )

    def test_only_the_queues_asked_for_are_served(self):
        mail = self.submit("errand.echo", "--queue", "mail")
        other = self.submit("errand.echo")
        self.drain("--queue", "mail")
        self.assertEqual(self.json("status", mail)["status"], "completed")
        self.assertEqual(self.json("status", other)["status"], "pending")

    def test_limit_ends_the_worker(self):
        for _ in range(3):
            self.submit("errand.echo")
        self.errand("worker", "--limit", "2", "--concurrency", "1")
        self.assertEqual(self.json("stats")["tasks"]["completed"], 2)

    def test_a_command_is_a_handler(self):
        task = self.submit("shout", '"hello"')
        self.drain("--exec", "shout=tr a-z A-Z")
        self.assertEqual(self.errand("wait", task).stdout.strip(), '"HELLO"')

    def test_a_command_that_fails_is_a_failure_with_its_words(self):
        task = self.submit("broken", "--max-retries", "0")
        self.drain("--exec", "broken=echo no paper >&2; exit 3")
        self.assertIn("no paper", self.errand("wait", task, expect=1).stderr)

    def test_a_log_line_keeps_beginning_and_end_of_a_long_message(self):
        self.submit("errand.fail", '{"message":"%s"}' % ("x" * 500), "--max-retries", "0")
        log = self.errand("worker", "--drain").stderr
        (line,) = [line for line in log.splitlines() if "xxx" in line]
        self.assertIn("attempt 1 failed", line)
        self.assertIn("…", line)
        self.assertTrue(line.endswith("; no further attempt"), line)
        self.assertLess(len(line), 330)

    def test_queues_may_be_separated_by_commas(self):
        tasks = [self.submit("errand.echo", "--queue", queue) for queue in ("a", "b")]
        self.drain("-q", "a,b")
        self.assertEqual(self.errand("wait", *tasks, "--timeout", "0").stdout, "{}\n{}\n")

    def test_retries_follow_the_policy_of_the_task(self):
        task = self.submit("errand.fail", '{"message":"x"}', "--max-retries", "1",
                           "--retry-delay", "1ms")  # fmt: skip
        worker = self.start_worker()
        self.errand("wait", task, "--timeout", str(DEADLINE), expect=1)
        self.stop(worker)
        self.assertEqual(self.json("status", task)["attempts"], 2)
        self.assertRegex(self.errand("status", task).stdout, r"attempt 1  .* ago, .*: x\n")

    def test_bad_options_are_refused(self):
        for arguments in (["-q", ","], ["-q", "a,"], ["--concurrency", "-1"], ["--lease", "soon"], ["--exec", "nothing"],
                          ["--log-level", "loud"], ["--limit", "x"]):  # fmt: skip
            ended = self.errand("worker", "--drain", *arguments, expect=2)
            self.assertTrue(ended.stderr.startswith("errand: "), ended.stderr)


if __name__ == "__main__":
    unittest.main()
