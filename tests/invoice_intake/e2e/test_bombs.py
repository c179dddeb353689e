"""Every e-mail made with malice goes through ingest and worker, whose memory stays flat."""

import json
import os
import pathlib
import subprocess
import unittest

from invoices_program import PROGRAM, InvoicesTest

FIXTURES = pathlib.Path(os.environ["ERRAND_INVOICES_FIXTURES"])
MOST = 256 * 1024  # KiB; the largest e-mail is 64 MiB
BEGIN = b"From: a@b.c\nTo: ann@example.com\nMessage-ID: <%s@bombs>\n"
SIZE = 24 << 20


def header_bombs():
    """What a parser in the program itself would make gigabytes of; one after the other, for this
    process counts as the one that it starts, until that has begun."""
    multipart = b"Content-Type: multipart/mixed; boundary=B\n\n"
    yield "headers", b"X: y\n" * (SIZE // 5) + b"\n"
    yield "one-header", b"Cc: " + b"a@b.c, " * (SIZE // 7) + b"\n\n"
    yield "parts", multipart + b"--B\n\nx\n" * (SIZE // 7)
    yield "part-headers", multipart + b"--B\n" + b"X: y\n" * (SIZE // 5)
    yield "forwarded-headers", (multipart + b"--B\nContent-Type: message/rfc822\n\n" +
                                b"X: y\n" * (SIZE // 5))
    yield "text", b"\n" + b"text\n" * (SIZE // 5)


class Bombs(InvoicesTest):
    def peak_of(self, process):
        """Of a process that runs; KiB. Its children, the extractors, have limits of their own."""
        for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
        raise AssertionError("the process has ended")

    def ingest_and_measure(self, file):
        """The most memory that it had; KiB."""
        output = self.directory / "output"
        with open(output, "wb") as stream:
            process = subprocess.Popen([PROGRAM, "ingest", "--user", "ann@example.com", file],
                                       stdout=stream, stderr=stream, env=self.environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, f"{file}: {output.read_text()}")
        return usage.ru_maxrss

    def test_memory_stays_flat(self):
        truth = json.loads((FIXTURES / "truth.json").read_text())
        files = [FIXTURES / "mails" / entry["file"] for entry in truth["mails"]
                 if entry.get("error") or any(a["kind"] == "bomb" for a in entry["attachments"])]
        self.assertGreater(len(files), 8)
        for name, content in header_bombs():
            files.append(self.write(f"{name}.eml", BEGIN % name.encode() + content))
        for file in files:
            self.assertLess(self.ingest_and_measure(file), MOST, file)

        worker = self.start("worker", "--concurrency", "2", "--attachment-time", "4s",
                            "--retry-delay", "1h", "--log-level", "error")
        open_ = "pending,processing"
        self.wait_until(lambda: self.json("tasks", "list", "--status", open_)["total"] == 0,
                        "not all have ended")
        self.assertLess(self.peak_of(worker), MOST)
        self.stop(worker)
        tasks = self.json("tasks", "list", "--page-size", "100")["items"]
        self.assertEqual(len(tasks), len(files))
        for task in tasks:
            self.assertIn(task["status"], ("completed", "failed", "retrying"), task)
        self.assertEqual(self.json("monitor", "stuck"), [])


if __name__ == "__main__":
    unittest.main()
