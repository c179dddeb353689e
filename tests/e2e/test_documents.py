"""The shell sessions of the documents, played again: what they show is what the program prints.

A session is a ```console block: after `$ ` what is typed, below it what is seen. All sessions of a
document are one, from its first command to its last. Ids, times, ages, process numbers, hosts and
the like differ from run to run and are masked; where an id of the document is used again, the id
that stands for it in this run is used.
"""

import os
import pathlib
import re
import subprocess
import time
import unittest

from built_program import wait_for_text
from errand_program import ErrandTest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 20  # seconds until a picture must be as the document shows it

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
MASKS = (
    (ID, "ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\S+:\d+:[0-9a-f]{8}"), "WORKER"),
    (re.compile(r"\d+ MiB free|\d+\.\d MiB|SQLite \d+\.\d+\.\d+"), "MEASURED"),
    (re.compile(r"\d+(\.\d+)? (ms|s|min|h|d)\b( \d+ (s|min|h))?"), "AGE"),
    # Columns are as wide as what stands in them.
    (re.compile(r"[ \t]+"), " "),
)
# A trace depends on how the program was built.
TRACE = re.compile(r"^\s+(thrown at |#\d+ )")
IN_ANOTHER_TERMINAL = re.compile(r"#.*(another terminal|另一个终端)")
# What only looks may look too early, while a worker is busy.
LOOKS = re.compile(r"^errand (status|list|stats|top|doctor|failed list|failed show|queue list)\b")


def masked(text):
    lines = []
    for line in text.splitlines():
        if TRACE.match(line):
            continue
        for pattern, mask in MASKS:
            line = pattern.sub(mask, line)
        line = line.strip()
        # How much a worker has done is told every third of its lease.
        lines.append(re.sub(r"\d+", "N", line) if line.startswith("WORKER default") else line)
    return "\n".join(lines).strip()


class Step:
    def __init__(self, command, line):
        self.command = command
        self.line = line
        self.expected = ""


def blocks_of(text):
    """Language, number of the first line, and lines of each fenced block."""
    language = None
    for number, line in enumerate(text.splitlines(), 1):
        if language is None and line.startswith("```"):
            language, begin, lines = line[3:], number + 1, []
        elif line == "```":
            yield language, begin, lines
            language = None
        elif language is not None:
            lines.append(line)


def steps_of(text):
    steps = []
    for language, begin, lines in blocks_of(text):
        for number, line in enumerate(lines, begin):
            if language != "console":
                if line.startswith("$ "):
                    raise AssertionError(f"line {number}: a session that is not a console block")
            elif line.startswith("$ "):
                steps.append(Step(line[2:], number))
            else:
                steps[-1].expected += line + "\n"
    return steps


def script_of(text):
    """The handler that the sessions use."""
    for language, _, lines in blocks_of(text):
        if language == "sh" and lines[0] == "#!/bin/sh":
            return "\n".join(lines) + "\n"
    raise AssertionError("the document has no handler script")


class Documents(ErrandTest):
    def setUp(self):
        super().setUp()
        programs = self.directory / "bin"
        programs.mkdir()
        (programs / "errand").symlink_to(self.program)
        del self.environment["ERRAND_DSN"]
        self.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
        self.work = self.directory / "work"
        self.work.mkdir()
        self.ids = {}

    def play(self, name):
        text = (SOURCES / name).read_text(encoding="utf-8")
        script = self.work / "resize.sh"
        script.write_text(script_of(text))
        steps = steps_of(text)
        self.assertGreater(len(steps), 5, "the sessions were not found")
        for step in steps:
            with self.subTest(f"{name}:{step.line}", command=step.command):
                self.play_step(step)

    def play_step(self, step):
        command = ID.sub(lambda found: self.ids.get(found[0], found[0]), step.command)
        if IN_ANOTHER_TERMINAL.search(command):
            shown = self.start_beside(command, step.expected)
        else:
            shown = self.run_to_its_end(command)
            deadline = time.monotonic() + PATIENCE
            while LOOKS.match(command) and masked(shown) != masked(step.expected):
                if time.monotonic() > deadline:
                    break
                shown = self.run_to_its_end(command)
        self.assertEqual(masked(step.expected), masked(shown))
        for wanted, found in zip(ID.findall(step.expected), ID.findall(shown)):
            self.assertEqual(self.ids.setdefault(wanted, found), found)

    def run_to_its_end(self, command):
        ended = subprocess.run(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            cwd=self.work,
            env=self.environment,
        )
        return ended.stdout

    def start_beside(self, command, expected):
        process = subprocess.Popen(
            ["sh", "-c", "exec " + command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.work,
            env=self.environment,
        )
        self.addCleanup(self._end, process)
        return "".join(wait_for_text(process.stderr, "") for _ in expected.splitlines())

    def test_the_readme(self):
        self.play("README.md")

    def test_the_chinese_readme(self):
        self.play("README.zh-CN.md")

    def test_the_page_about_the_program(self):
        self.play("docs/cli.md")


if __name__ == "__main__":
    unittest.main()
