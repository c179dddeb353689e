import signal
import termios
import unittest

from errand_program import ErrandTest, Terminal


class OnATerminal(ErrandTest):
    def test_colours_unless_the_user_wants_none(self):
        task = self.submit("errand.echo")
        self.assertIn("\x1b[36mpending\x1b[0m", Terminal(self, "status", task).end())
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            shown = Terminal(self, "status", task, **environment).end()
            self.assertIn("pending", shown)
            self.assertNotIn("\x1b", shown)

    def test_tables_fit_the_terminal(self):
        self.submit("type." + "x" * 180, "--queue", "任务" * 30)
        shown = Terminal(self, "list", NO_COLOR="1").end()
        for line in shown.splitlines():
            width = sum(2 if character in "任务" else 1 for character in line)
            self.assertLessEqual(width, 100, line)
        self.assertIn("…", shown)

    def test_results_are_escaped_as_json_where_they_could_act(self):
        self.submit("errand.echo", '"\u009b31m \u202e \x7f"')
        task = self.json("list")["items"][0]["taskId"]
        self.drain()
        self.assertEqual(self.errand("wait", task).stdout, '"\u009b31m \u202e \x7f"\n')
        shown = Terminal(self, "wait", task).end()
        self.assertIn(r'"\u009b31m \u202e \u007f"', shown)

    def test_wait_tells_that_no_worker_serves_the_queue(self):
        task = self.submit("errand.echo", '{"a":1}', "--queue", "mail")
        terminal = Terminal(self, "wait", task)
        terminal.wait_for("pending · ")
        terminal.wait_for("no worker serves queue 'mail'")
        self.drain("--queue", "mail")
        self.assertTrue(terminal.end().endswith('\x1b[K{"a":1}\r\n'))

    def test_control_c_leaves_no_line_for_the_prompt_to_land_in(self):
        task = self.submit("errand.echo", "--queue", "mail")
        for arguments in (["wait", task], ["submit", "errand.echo", "--queue", "mail", "--wait"]):
            for number in (signal.SIGINT, signal.SIGTERM):
                terminal = Terminal(self, *arguments)
                terminal.wait_for("no worker serves queue 'mail'")
                terminal.process.send_signal(number)
                shown = terminal.end(expect=-number)
                self.assertTrue(shown.endswith("\r\x1b[K"), shown)

    def test_remove_asks_first(self):
        self.fail_a_task()
        terminal = Terminal(self, "failed", "remove", "--all")
        terminal.wait_for("Remove 1 task for good? [y/N] ")
        terminal.type("n\n")
        self.assertIn("Nothing was removed", terminal.end(expect=1))
        terminal = Terminal(self, "failed", "remove", "--all")
        terminal.wait_for("[y/N] ")
        terminal.type("y\n")
        self.assertIn("Removed 1 task", terminal.end())
        self.assertEqual(self.json("list")["total"], 0)


class Top(ErrandTest):
    def assert_restored(self, terminal, shown):
        self.assertTrue(shown.endswith("\x1b[?7h\x1b[?25h\x1b[?1049l"), shown[-80:])
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.settings_before)

    def test_q_quits_and_leaves_the_terminal_as_it_was(self):
        self.submit("errand.echo")
        terminal = Terminal(self, "top", "--interval", "50ms")
        terminal.wait_for("q quits")
        terminal.type("xq")
        self.assert_restored(terminal, terminal.end())

    def test_control_c_quits(self):
        self.errand("setup")
        terminal = Terminal(self, "top")
        terminal.wait_for("q quits")
        terminal.type("\x03")
        self.assert_restored(terminal, terminal.end())

    def test_a_signal_quits(self):
        self.errand("setup")
        terminal = Terminal(self, "top")
        terminal.wait_for("q quits")
        terminal.process.terminate()
        self.assert_restored(terminal, terminal.end())

    def test_it_shows_what_happens_meanwhile(self):
        self.errand("setup")
        terminal = Terminal(self, "top", "--interval", "50ms", NO_COLOR="1")
        terminal.wait_for("No queue has open tasks")
        self.submit("errand.echo", "--queue", "late-queue")
        terminal.wait_for("late-queue")
        terminal.type("q")
        terminal.end()


if __name__ == "__main__":
    unittest.main()
