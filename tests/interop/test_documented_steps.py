"""docs/symfony.md, "Five steps", followed to the letter on PostgreSQL with a real PHP."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

from test_symfony import DEADLINE, PEER, PostgresStorage

SOURCES = pathlib.Path(__file__).resolve().parents[2]


def blocks_of_steps():
    """The fenced blocks of the section, in order: language and text."""
    text = (SOURCES / "docs" / "symfony.md").read_text()
    section = text[text.index("## Five steps") : text.index("## Tasks")]
    found = re.findall(r"^ *```(\w+)\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    return [(language, textwrap.dedent(body)) for language, body in found]


class FiveSteps(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="errand_interop_"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.storage = PostgresStorage(self.directory)
        self.addCleanup(self.storage.drop)
        self.blocks = blocks_of_steps()

    def block(self, language, number=0):
        return [text for kind, text in self.blocks if kind == language][number]

    def shell(self, command):
        """A line of the document; `errand` is the built program, and workers end when all is done."""
        if command.startswith(("errand worker", "./symfony_worker")):
            command += " --drain"
        tools = self.directory / "bin"
        tools.mkdir(exist_ok=True)
        for name, program in (("errand", "ERRAND_BIN"), ("symfony_worker", "ERRAND_EXAMPLE")):
            for place in (tools / name, self.directory / name):
                if not place.exists():
                    place.symlink_to(os.environ[program])
        ended = subprocess.run(
            command,
            shell=True,
            cwd=self.directory,
            capture_output=True,
            encoding="utf-8",
            timeout=DEADLINE,
            env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
        )
        self.assertEqual(ended.returncode, 0, command + "\n" + ended.stdout + ended.stderr)
        return ended.stdout

    def dispatch(self, **options):
        settings = {"connection": self.storage.php, "queue": self.queue, **options}
        subprocess.run(["php", str(PEER), "dispatch", json.dumps(settings)],
                       check=True, timeout=DEADLINE)  # fmt: skip

    def test_the_steps_work_as_they_are_written(self):
        # 1: what PHP is told. The peer is configured the same way.
        yaml = self.block("yaml")
        self.queue = re.search(r"async:\n +dsn: '.*queue_name=(\w+)'", yaml).group(1)
        self.assertIn("messenger.transport.symfony_serializer", yaml)

        # 2: what Errand is told; only the address of the database is another one.
        address = self.storage.address
        configuration = self.block("json").replace("postgresql://app@db/shop?", address + "&")
        self.assertIn(self.storage.host, configuration)
        (self.directory / "errand.json").write_text(configuration)

        # 3
        self.shell("errand transport setup")
        self.assertIn("async", self.shell("errand transport stats"))

        # 4, with a command
        self.dispatch(count=2)
        (self.directory / "send_sms.py").write_text(
            "import json, sys\nsms = json.load(sys.stdin)\n"
            "open('by_command.txt', 'a').write(f\"{sms['n']}\\n\")\n"
        )
        self.shell(self.block("sh", 0).strip())
        self.assertEqual(sorted((self.directory / "by_command.txt").read_text().split()), ["1", "2"])

        # 4, with the program of the document, which is the example that was built
        example = (SOURCES / "examples" / "symfony_worker.cpp").read_text()
        self.assertTrue(example.endswith(self.block("cpp")), "the example is another program")
        self.dispatch(count=3)
        self.shell(self.block("sh", 1).strip())
        numbers = [line.split()[0] for line in (self.directory / "sent.txt").read_text().splitlines()]
        self.assertEqual(sorted(numbers), ["1", "2", "3"])

        # 5
        self.shell("""errand send sms.send '{"to":"","n":7}' --transport async""")
        self.shell(self.block("sh", 1).strip())
        self.assertIn("nobody to send it to", self.shell("errand failed list --transport failed"))
        self.shell("errand failed retry --all --transport failed")
        self.assertIn("async", self.shell("errand transport stats"))


if __name__ == "__main__":
    unittest.main()
