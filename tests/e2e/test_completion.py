import subprocess
import unittest

from built_program import DEADLINE
from errand_program import ErrandTest


class Completion(ErrandTest):
    def script(self, shell):
        path = self.directory / f"completion.{shell}"
        path.write_text(self.errand("completion", shell).stdout)
        return path

    def check_syntax(self, shell):
        ended = subprocess.run(
            [shell, "-n", self.script(shell)], capture_output=True, timeout=DEADLINE
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))

    def test_bash_accepts_the_script(self):
        self.check_syntax("bash")

    def test_zsh_accepts_the_script(self):
        self.check_syntax("zsh")

    def test_fish_accepts_the_script(self):
        self.check_syntax("fish")

    def test_fish_completes_commands_and_values(self):
        def offered(line):
            ended = subprocess.run(
                ["fish", "--no-config", "-c",
                 f"source '{self.script('fish')}'; complete -C '{line}'"],
                capture_output=True, encoding="utf-8", timeout=DEADLINE,
                env={**self.environment, "HOME": str(self.directory)},
            )  # fmt: skip
            return sorted(line.split("\t")[0] for line in ended.stdout.splitlines())

        self.assertEqual(offered("errand failed "), ["list", "remove", "retry", "show"])
        self.assertEqual(offered("errand list --status c"), ["cancelled", "completed"])
        self.assertEqual(offered("errand failed list --st"), ["--stats"])
        self.assertEqual(
            offered("errand worker --log-level "), ["debug", "error", "info", "warning"]
        )

    def complete(self, *words):
        """What bash offers for the last of the words, which is being typed."""
        quoted = " ".join(f"'{word}'" for word in ("errand", *words))
        ended = subprocess.run(
            ["bash", "--norc", "-c",
             f"source '{self.script('bash')}'; compopt() {{ :; }}; COMP_WORDS=({quoted}); "
             f"COMP_CWORD={len(words)}; _errand; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
            capture_output=True, encoding="utf-8", timeout=DEADLINE, cwd=self.directory,
        )  # fmt: skip
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout.split()

    def test_bash_completes_commands(self):
        self.assertEqual(self.complete("sta"), ["status", "stats"])
        self.assertEqual(self.complete("failed", ""), ["list", "show", "retry", "remove"])
        self.assertEqual(self.complete("--dsn", "sqlite:x", "queue", "p"), ["pause"])
        self.assertIn("submit", self.complete(""))

    def test_bash_completes_options(self):
        self.assertEqual(self.complete("submit", "--max"), ["--max-retries"])
        self.assertIn("--stats", self.complete("failed", "list", "--"))
        self.assertNotIn("--stats", self.complete("list", "--"))

    def test_bash_completes_values(self):
        self.assertEqual(self.complete("list", "--status", "c"), ["completed", "cancelled"])
        self.assertEqual(self.complete("list", "--status", "=", "f"), ["failed"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("worker", "--log-level", "w"), ["warning"])
        (self.directory / "messages.jsonl").touch()
        self.assertEqual(self.complete("submit", "t", "--jsonl", "mess"), ["messages.jsonl"])
        self.assertEqual(self.complete("submit", "--queue", ""), [])


if __name__ == "__main__":
    unittest.main()
