"""A real IMAP server (dovecot): mail that arrives while it is watched, and a server that dies."""

import imaplib
import json
import os
import pathlib
import ssl
import subprocess
import unittest

from built_program import DEADLINE, wait_for_text
from invoices_program import InvoicesTest, mail, number, xml_invoice

SERVER = pathlib.Path(os.environ["ERRAND_DOVECOT"])


class Imap(InvoicesTest):
    def setUp(self):
        super().setUp()
        self.server = self.directory / "dovecot"
        self.directory.chmod(0o755)  # the server works as another user
        self.control("start")
        self.addCleanup(self.control, "stop")
        self.port = int((self.server / "port").read_text())
        self.environment["ERRAND_INVOICES_IMAP_PASSWORD"] = "secret"
        self.url = f"imaps://ann@localhost:{self.port}/INBOX"
        self.options = ("--imap-ca", self.server / "ca.crt")

    def control(self, action):
        subprocess.run([SERVER, action, self.server], check=True, timeout=DEADLINE)

    def mailbox(self):
        context = ssl.create_default_context(cafile=str(self.server / "ca.crt"))
        client = imaplib.IMAP4_SSL("localhost", self.port, ssl_context=context)
        client.login("ann", "secret")
        client.select("INBOX")
        return client

    def append(self, *contents):
        client = self.mailbox()
        for content in contents:
            client.append("INBOX", None, None, content)
        client.logout()

    def flags(self):
        client = self.mailbox()
        _, lines = client.fetch("1:*", "(FLAGS)")
        client.logout()
        return [line.decode() for line in lines]

    def sample(self, i, **options):
        return mail(f"{i}@x", [("a.xml", xml_invoice(number(i)))], **options)

    def watch(self):
        process = self.start("ingest", "--imap", self.url, *self.options, "--watch", "--json")
        wait_for_text(process.stderr, "watching")
        return process

    def outcome(self, process):
        return json.loads(wait_for_text(process.stdout, "{"))

    def test_what_is_stored_is_marked_and_nothing_else(self):
        self.append(self.sample(1), self.sample(2, to="eve@example.com"), self.sample(3))
        outcomes = self.ingest("--imap", self.url, *self.options, expect=1)
        self.assertEqual([o["status"] for o in outcomes], ["created", "refused", "created"])
        flags = self.flags()
        self.assertIn("$ErrandStored", flags[0])
        self.assertNotIn("$ErrandStored", flags[1])
        self.assertIn("$ErrandStored", flags[2])
        for line in flags:
            self.assertNotIn("\\Seen", line, "reading must not mark")
        self.assertEqual(len(self.ingest("--imap", self.url, *self.options, expect=1)), 1)
        self.assertEqual(self.json("tasks", "list")["total"], 2)

    def test_a_mailbox_may_have_a_name_that_is_not_ascii(self):
        client = self.mailbox()
        folder = "&U9F5aA-"  # 发票
        self.assertEqual(client.create(folder)[0], "OK")
        client.append(folder, None, None, self.sample(1))
        client.logout()
        url = f"imaps://ann@localhost:{self.port}/发票"
        [outcome] = self.ingest("--imap", url, *self.options)
        self.assertEqual(outcome["status"], "created")

    def test_mail_that_arrives_while_watching_is_processed(self):
        watcher = self.watch()
        for i in range(3):
            self.append(self.sample(i))
            self.assertEqual(self.outcome(watcher)["status"], "created")
        self.stop(watcher)
        self.drain()
        self.assertEqual(self.json("invoices", "list")["total"], 3)

    def test_a_server_that_dies_loses_nothing_and_brings_nothing_twice(self):
        watcher = self.watch()
        self.append(self.sample(0))
        self.outcome(watcher)
        for round_ in range(1, 3):
            self.control("kill")
            # Mail servers may deliver although nobody can read.
            inbox = self.server / "mail/ann/new"
            (inbox / f"{round_}.host").write_bytes(self.sample(round_))
            wait_for_text(watcher.stderr, "trying again")
            self.control("restart")
            self.assertEqual(self.outcome(watcher)["status"], "created")
            self.append(self.sample(10 + round_))
            self.assertEqual(self.outcome(watcher)["status"], "created")
        _, out, _ = self.stop(watcher)
        self.assertEqual(out, "", "nothing comes twice")
        self.assertEqual(self.json("tasks", "list")["total"], 5)
        for line in self.flags():
            self.assertIn("$ErrandStored", line)
        self.drain()
        self.assertEqual(self.json("invoices", "list")["total"], 5)

    def test_a_wrong_password_or_certificate_is_an_error_without_secrets(self):
        self.environment["ERRAND_INVOICES_IMAP_PASSWORD"] = "topsecret"
        error = self.invoices("ingest", "--imap", self.url, *self.options, expect=2).stderr
        self.assertIn("refuses this user or password", error)
        self.assertNotIn("topsecret", error)
        error = self.invoices("ingest", "--imap", self.url, expect=6).stderr
        self.assertIn("certificate", error)
        (self.directory / "password").write_text("secret\n")
        self.assertEqual(self.ingest("--imap", self.url, *self.options, "--imap-password-file",
                                     self.directory / "password"), [])


if __name__ == "__main__":
    unittest.main()
