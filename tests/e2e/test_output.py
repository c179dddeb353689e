import os
import subprocess
import unittest

from built_program import DEADLINE
from errand_program import ErrandTest


class Output(ErrandTest):
    def test_a_full_disk_is_an_error(self):
        self.errand("setup")
        for arguments in (["version"], ["--help"], ["stats", "--json"], ["completion", "bash"]):
            with open("/dev/full", "w") as full:
                ended = self.errand(*arguments, expect=74, stdout=full)
            self.assertEqual(
                ended.stderr,
                "errand: cannot write to standard output: No space left on device\n",
                arguments,
            )

    def test_what_is_stored_is_told_where_its_id_cannot_be_printed(self):
        with open("/dev/full", "w") as full:
            ended = self.errand("submit", "errand.echo", expect=74, stdout=full)
            (task,) = self.json("list")["items"]
            self.assertEqual(
                ended.stderr,
                f"errand: task {task['taskId']} is stored all the same\n"
                "errand: cannot write to standard output: No space left on device\n",
            )
            lines = "1\n2\n"
            ended = self.errand("submit", "t", "--jsonl", "-", input=lines, expect=74, stdout=full)
        self.assertIn("2 tasks of lines 1 to 2 were submitted", ended.stderr)
        self.assertEqual(self.json("list")["total"], 3)

    def test_a_reader_that_has_gone_is_none(self):
        lines = "1\n" * 5_000
        self.errand("submit", "t", "--jsonl", "-", input=lines, stdout=subprocess.DEVNULL)
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "w") as gone:
            ended = self.errand("list", "--page-size", "1000", expect=141, stdout=gone)
        self.assertEqual(ended.stderr, "")

    def test_closed_streams_do_not_become_files(self):
        # Without care, the database would get the number 1, and the id would be written into it.
        ended = subprocess.run(
            f"'{self.program}' submit errand.echo 1 <&- >&-",
            shell=True,
            env=self.environment,
            stderr=subprocess.PIPE,
            timeout=DEADLINE,
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))
        ended = subprocess.run(
            f"'{self.program}' submit errand.echo 1 <&- >&- 2>&-",
            shell=True,
            env=self.environment,
            timeout=DEADLINE,
        )
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(self.json("stats")["tasks"]["pending"], 2)
        self.errand("doctor")

    def test_user_data_cannot_act_on_the_terminal(self):
        evil = "\x1b[2J\x1b]0;title\x07 \u009b31m \u202e \x7f\r\n"
        task = self.fail_a_task(evil, "--header", f"h={evil}", "--queue", "default")
        outputs = [
            self.errand("status", task).stdout,
            self.errand("failed", "list").stdout,
            self.errand("failed", "show", task).stdout,
            self.errand("wait", task, expect=1).stderr,
            self.errand("top", "--once").stdout,
            self.errand("list", "--type", evil).stdout,
            self.errand("status", evil, expect=2).stderr,
            self.errand(evil, expect=2).stderr,
            self.errand("stats", "--dsn", evil, expect=2).stderr,
        ]
        for output in outputs:
            for character in "\x1b\x07\x7f\r\u009b\u202e":
                self.assertNotIn(character, output)

    def test_what_is_piped_has_neither_colours_nor_cut_lines(self):
        self.submit("a.rather.long.type." + "x" * 150)
        text = self.errand("list", env={**self.environment, "COLUMNS": "40"}).stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("x" * 150, text)


if __name__ == "__main__":
    unittest.main()
