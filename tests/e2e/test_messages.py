import fcntl
import json
import os
import pty
import sqlite3
import subprocess
import termios
import unittest

from errand_program import ErrandTest, Terminal


STAMP = "X-Message-Stamp-Symfony\\Component\\Messenger\\Stamp\\"


class Messages(ErrandTest):
    def setUp(self):
        super().setUp()
        self.file = self.directory / "app.db"
        self.dsn = f"sqlite:{self.file}?queue_name=async"

    def rows(self, sql):
        connection = sqlite3.connect(self.file)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def execute(self, sql):
        connection = sqlite3.connect(self.file)
        with connection:
            connection.execute(sql)
        connection.close()

    def configure(self, **more):
        configuration = {
            "transports": {
                "async": {
                    "dsn": self.dsn,
                    "retry_strategy": {"max_retries": 1, "delay": 0, "multiplier": 1},
                },
                "dead": {"dsn": f"sqlite:{self.file}?table_name=failed_messages"},
            },
            "failure_transport": "dead",
            "routing": {"App\\Message\\*": "async"},
            "class_names": {"mail.send": "App\\Message\\SendMail"},
        }
        configuration.update(more)
        (self.directory / "errand.json").write_text(json.dumps(configuration))

    def test_a_message_is_sent_and_handled(self):
        sent = self.errand("send", "App\\Message\\Mail", '{"to":"a@b.c"}', "--transport", self.dsn)
        self.assertRegex(sent.stdout, r"^Sent App\\Message\\Mail to async as [0-9a-f-]{36}\n$")
        message = sent.stdout.split()[-1]
        ((body, headers, queue),) = self.rows(
            "SELECT body, headers, queue_name FROM messenger_messages"
        )
        self.assertEqual((body, queue), ('{"to":"a@b.c"}', "async"))
        self.assertEqual(
            json.loads(headers),
            {
                "type": "App\\Message\\Mail",
                "Content-Type": "application/json",
                STAMP + "TransportMessageIdStamp": json.dumps([{"id": message}], separators=(",", ":")),
            },
        )
        self.drain("--transport", self.dsn, "--exec", "App\\Message\\Mail=cat > handled.json")
        self.assertEqual((self.directory / "handled.json").read_text(), '{"to":"a@b.c"}')
        self.assertEqual(self.rows("SELECT * FROM messenger_messages"), [])
        self.assertFalse(self.database.exists(), "no storage of tasks is needed")

    def test_a_delay_is_kept(self):
        self.errand("send", "X", "--transport", self.dsn, "--delay", "90s")
        ((difference,),) = self.rows(
            "SELECT strftime('%s', available_at) - strftime('%s', created_at) "
            "FROM messenger_messages"
        )
        self.assertIn(difference, (90, 91), "whole seconds, never early")
        (stats,) = self.json("transport", "stats", self.dsn)
        self.assertEqual((stats["ready"], stats["delayed"]), (0, 1))

    def test_the_configuration_names_transports_and_routes(self):
        self.configure()
        sent = self.json("send", "App\\Message\\Other", "{}")
        self.assertEqual((sent["type"], sent["transport"]), ("App\\Message\\Other", "async"))
        # By the name of its class, which is the one on the wire.
        self.errand("send", "mail.send", "{}")
        types = {
            json.loads(headers)["type"]
            for (headers,) in self.rows("SELECT headers FROM messenger_messages")
        }
        self.assertEqual(types, {"App\\Message\\Other", "App\\Message\\SendMail"})
        self.errand("transport", "setup")
        names = [item["transport"] for item in self.json("transport", "stats")]
        self.assertEqual(names, ["async", "dead"])
        self.assertIn("--transport", self.errand("send", "unrouted", "{}", expect=2).stderr)

    def test_a_transport_that_is_down_does_not_matter_to_the_routes_of_others(self):
        transports = {
            "async": {"dsn": self.dsn},
            "down": {"dsn": "postgresql://nobody@127.0.0.1:1/absent?queue_name=down"},
        }
        self.configure(
            transports=transports,
            failure_transport="async",
            routing={"App\\*": "down", "App\\Message\\*": "async", "*": "down"},
        )
        self.assertEqual(self.json("send", "App\\Message\\Mail")["transport"], "async")
        self.errand("send", "App\\Other", expect=6)

    def test_what_fails_lands_in_the_failure_transport_and_can_be_sent_again(self):
        self.configure()
        self.errand("send", "mail.send", '{"n":1}', "--transport", "async")
        worker = ("--transport", "async", "--exec", "mail.send=echo no mail today >&2; exit 3")
        self.drain(*worker)
        page = self.json("failed", "list", "--transport", "dead")
        (message,) = page["items"]
        self.assertEqual((message["type"], message["transport"]), ("mail.send", "async"))
        self.assertIn("no mail today", message["error"]["message"])
        self.assertIn("no mail today", self.errand("failed", "list", "--transport", "dead").stdout)
        shown = self.errand("failed", "show", message["id"], "--transport", "dead").stdout
        self.assertIn('{"n":1}', shown)
        (group,) = self.json("failed", "list", "--stats", "--transport", "dead")
        self.assertEqual((group["type"], group["count"]), ("mail.send", 1))
        self.assertEqual(
            self.json("failed", "retry", "--type", "mail.send", "--transport", "dead"),
            {"retried": 1, "to": {"async": 1}},
        )
        self.drain("--transport", "async", "--exec", "mail.send=cat > again.json")
        self.assertEqual((self.directory / "again.json").read_text(), '{"n":1}')
        self.assertEqual(self.json("failed", "list", "--transport", "dead")["total"], 0)

    def test_without_a_configuration_failures_go_to_the_queue_failed(self):
        self.errand("send", "errand.fail", "[]", "--transport", self.dsn)
        self.drain("--transport", self.dsn)
        failed = f"sqlite:{self.file}?queue_name=failed"
        (message,) = self.json("failed", "list", "--transport", failed)["items"]
        retry = ("failed", "retry", message["id"], "--transport", failed)
        self.assertIn("--to", self.errand(*retry, expect=2).stderr)
        sent = self.errand(*retry, "--to", self.dsn).stdout
        self.assertEqual(sent, "Sent again 1 message to async\n")
        self.assertEqual(self.rows("SELECT queue_name FROM messenger_messages"), [("async",)])

    def stamp_of(self, transport):
        stamps = [{"originalReceiverName": transport}]
        return {STAMP + "SentToFailureTransportStamp": json.dumps(stamps)}

    def test_a_name_of_phps_is_not_taken_for_a_queue(self):
        """Symfony's stock setup: the transport `async` is the queue `default`."""
        failed = self.insert_failures([("X", "1")], self.stamp_of("async"))
        retry = ("failed", "retry", "--all", *failed)
        refused = self.errand(*retry, expect=2).stderr
        self.assertIn("--to", refused)
        self.assertIn("async", refused)
        self.assertEqual(self.rows("SELECT queue_name FROM messenger_messages"), [("failed",)])
        default = f"sqlite:{self.file}?queue_name=default"
        self.errand(*retry, "--to", failed[1], expect=2)
        self.assertEqual(self.json(*retry, "--to", default), {"retried": 1, "to": {"default": 1}})
        self.assertEqual(self.rows("SELECT queue_name FROM messenger_messages"), [("default",)])
        self.errand("failed", "retry", "--all", "--to", default, expect=2)

    def test_what_somebody_else_is_handling_is_left_alone(self):
        self.configure()
        failed = self.insert_failures([("X", str(n)) for n in range(3)], self.stamp_of("async"))
        self.execute(
            "UPDATE messenger_messages SET delivered_at = "
            # The consumer of the third has been silent for longer than anybody waits.
            "CASE id WHEN 2 THEN datetime('now') WHEN 3 THEN datetime('now', '-2 hours') END"
        )
        named = self.errand("failed", "retry", "2", *failed, expect=1)
        self.assertIn("message 2 is being handled by somebody else", named.stderr)
        self.assertEqual(named.stdout, "Sent again 0 messages\n")
        every = self.errand("failed", "retry", "--all", *failed)
        self.assertIn("message 2 is being handled by somebody else", every.stderr)
        self.assertEqual(every.stdout, "Sent again 2 messages to async\n")
        self.assertEqual(
            self.rows("SELECT body, queue_name FROM messenger_messages ORDER BY body"),
            [("0", "async"), ("1", "failed"), ("2", "async")],
        )

    def test_what_is_live_is_not_taken_for_failed(self):
        self.configure()
        self.errand("send", "mail.send", "{}")
        for command in (("list",), ("show", "1"), ("retry", "--all"), ("remove", "1")):
            with self.subTest(command=command):
                refused = self.errand("failed", *command, "--transport", "async", expect=2).stderr
                self.assertIn("async is not a failure transport", refused)
                self.assertIn("dead", refused)
                by_dsn = ("failed", *command, "--transport", self.dsn)
                self.assertIn("--holds-failures", self.errand(*by_dsn, expect=2).stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM messenger_messages"), [(1,)])
        listed = self.json("failed", "list", "--transport", self.dsn, "--holds-failures")
        self.assertEqual(listed["total"], 1)

    def test_what_somebody_is_handling_is_not_removed(self):
        failed = self.insert_failures([("X", "1"), ("X", "2")])
        self.execute("UPDATE messenger_messages SET delivered_at = datetime('now') WHERE id = 1")
        named = self.errand("failed", "remove", "1", *failed, expect=1)
        self.assertIn("message 1 is being handled by somebody else", named.stderr)
        every = self.errand("failed", "remove", "--all", "--yes", *failed)
        self.assertEqual(every.stdout, "Removed 1 message\n")
        self.assertIn("message 1 is being handled by somebody else", every.stderr)
        self.assertEqual(self.rows("SELECT id FROM messenger_messages"), [(1,)])

    def test_the_queue_of_failures_that_nobody_named_can_be_named(self):
        self.configure(transports={"async": {"dsn": self.dsn}}, failure_transport="async")
        configuration = json.loads((self.directory / "errand.json").read_text())
        del configuration["failure_transport"]
        (self.directory / "errand.json").write_text(json.dumps(configuration))
        sent = self.json("send", "mail.send", "[]")["messageId"]
        worker = self.errand("worker", "--drain", "--transport", "async", "--exec", "mail.send=exit 1")
        self.execute("UPDATE messenger_messages SET available_at = created_at")
        for _ in range(3):
            worker = self.errand(
                "worker", "--drain", "--transport", "async", "--exec", "mail.send=exit 1"
            )
            self.execute("UPDATE messenger_messages SET available_at = created_at")
        self.assertIn(
            f"message {sent} of async goes to failed: errand failed list --transport failed",
            worker.stderr,
        )
        rows = self.json("transport", "stats")
        self.assertEqual([(r["transport"], r["ready"]) for r in rows], [("async", 0), ("failed", 1)])
        # By what the message was called from the start, and by the name of its class.
        shown = self.json("failed", "show", sent, "--transport", "failed")
        self.assertEqual((shown["messageId"], shown["transport"]), (sent, "async"))
        by_class = self.json(
            "failed", "list", "--type", "App\\Message\\SendMail", "--transport", "failed"
        )
        self.assertEqual(by_class["total"], 1)

    def test_a_command_may_be_given_by_class_and_print_what_it_likes(self):
        self.configure()
        sent = self.json("send", "mail.send", "[]")["messageId"]
        worker = self.errand(
            *("worker", "--drain", "--log-level", "debug", "--transport", "async"),
            *("--exec", "App\\Message\\SendMail=echo $ERRAND_MESSAGE_ID > id; echo not JSON"),
        )
        self.assertIn("1 completed", worker.stderr)
        self.assertIn("printed: not JSON", worker.stderr)
        self.assertEqual((self.directory / "id").read_text(), sent + "\n")

    def test_stats_show_all_transports_although_one_is_missing(self):
        transports = {
            "absent": {"dsn": f"sqlite:{self.directory}/absent.db"},
            "async": {"dsn": self.dsn},
        }
        self.configure(transports=transports, failure_transport="async")
        self.errand("send", "X", "--transport", "async")
        stats = self.errand("transport", "stats", expect=6)
        self.assertRegex(stats.stdout, r"absent +\?")
        self.assertRegex(stats.stdout, r"async +1 ")
        self.assertIn("transport absent: there is no file", stats.stderr)
        absent, there = json.loads(self.errand("transport", "stats", "--json", expect=6).stdout)
        self.assertIn("there is no file", absent["error"])
        self.assertEqual(there["ready"], 1)

    def test_a_wrong_place_to_retry_to_is_told_before_anything_is_looked_at(self):
        failed = self.insert_failures([])
        refused = self.errand("failed", "retry", "--all", *failed, "--to", "asinc", expect=2).stderr
        self.assertIn("asinc", refused)
        self.errand("failed", "retry", "--all", *failed, "--to", failed[1], expect=2)

    def test_ids_that_are_no_tasks_lead_to_the_failure_transport(self):
        for command in ("show", "retry", "remove"):
            refused = self.errand("failed", command, "42", expect=2).stderr
            self.assertIn("--transport", refused)

    def test_a_retry_is_one_transaction(self):
        """A trigger refuses the copy: then nothing has happened, and nothing is doubled."""
        self.configure()
        failed = self.insert_failures([("X", "1")], self.stamp_of("async"))
        self.execute(
            "CREATE TRIGGER full BEFORE DELETE ON messenger_messages BEGIN "
            "SELECT RAISE(ABORT, 'no'); END"
        )
        self.errand("failed", "retry", "1", *failed, expect=6)
        self.assertEqual(self.rows("SELECT queue_name FROM messenger_messages"), [("failed",)])

    def test_a_message_that_somebody_takes_meanwhile_is_told(self):
        """Where it goes to another storage. A trigger is the somebody there."""
        other = self.directory / "other.db"
        self.configure(transports={"async": {"dsn": f"sqlite:{other}"}}, failure_transport="async")
        self.errand("transport", "setup", "async")
        failed = self.insert_failures([("X", "1")], self.stamp_of("async"))
        self.execute(
            "CREATE TRIGGER held BEFORE DELETE ON messenger_messages BEGIN SELECT RAISE(IGNORE); END"
        )
        retried = self.errand("failed", "retry", "1", *failed)
        self.assertIn("message 1", retried.stderr)
        self.assertIn("twice", retried.stderr)

    def test_a_failure_midway_says_what_was_done_before(self):
        lost = self.directory / "lost.db"
        transports = {"async": {"dsn": self.dsn}, "lost": {"dsn": f"sqlite:{lost}"}}
        self.configure(transports=transports, failure_transport="async")
        self.insert_failures([("X", "1"), ("X", "2")], self.stamp_of("async"))
        failed = self.insert_failures([("X", "3"), ("X", "4")], self.stamp_of("lost"))
        stopped = self.errand("failed", "retry", "--all", *failed, expect=6)
        self.assertIn("sent again 2 messages to async, then failed", stopped.stderr)
        self.assertIn("lost.db", stopped.stderr)
        self.assertEqual(stopped.stdout, "")
        self.assertEqual(
            self.rows("SELECT body, queue_name FROM messenger_messages ORDER BY body"),
            [("1", "async"), ("2", "async"), ("3", "failed"), ("4", "failed")],
        )

    def test_nothing_is_sent_if_the_way_back_of_one_is_unknown(self):
        self.configure()
        self.insert_failures([("X", "1")], self.stamp_of("async"))
        failed = self.insert_failures([("X", "2")], self.stamp_of("elsewhere"))
        refused = self.errand("failed", "retry", "--all", *failed, expect=2).stderr
        self.assertIn("elsewhere", refused)
        queues = self.rows("SELECT queue_name FROM messenger_messages")
        self.assertEqual(queues, [("failed",), ("failed",)])
        self.insert_failures([("X", "3")])
        unknown = self.errand("failed", "retry", "3", *failed, expect=2).stderr
        self.assertIn("--to", unknown)
        sent = self.errand("failed", "retry", "--all", *failed, "--to", "async").stdout
        self.assertEqual(sent, "Sent again 3 messages to async\n")

    def test_interactive_retry_asks_about_each_message(self):
        for _ in range(2):
            self.errand("send", "errand.fail", "[]", "--transport", self.dsn)
        self.drain("--transport", self.dsn)
        failed = f"sqlite:{self.file}?queue_name=failed"
        terminal = Terminal(self, "failed", "retry", "-i", "--transport", failed, "--to", self.dsn)
        terminal.wait_for("1 of 2")
        terminal.type("r\n")
        terminal.wait_for("Sent again to async")
        terminal.wait_for("2 of 2")
        terminal.type("d\n")
        self.assertIn("1 sent again, 1 removed, 0 left", terminal.end())
        self.assertEqual(self.rows("SELECT queue_name FROM messenger_messages"), [("async",)])

    def insert_failures(self, bodies, headers={}):
        """Dead letters as a long outage leaves them behind."""
        self.errand("transport", "setup", self.dsn)
        connection = sqlite3.connect(self.file)
        with connection:
            connection.executemany(
                "INSERT INTO messenger_messages "
                "(body, headers, queue_name, created_at, available_at) "
                "VALUES (?, ?, 'failed', datetime('now'), datetime('now'))",
                ((body, json.dumps({"type": kind, **headers})) for kind, body in bodies),
            )
        connection.close()
        return ("--transport", f"sqlite:{self.file}?queue_name=failed")

    def test_failures_come_in_pages_the_newest_first(self):
        failed = self.insert_failures(
            ("odd" if n % 2 else "even", str(n)) for n in range(250)
        )

        def bodies(*options):
            page = self.json("failed", "list", "--page-size", "3", *options, *failed)
            return page["total"], [item["body"] for item in page["items"]]

        self.assertEqual(bodies(), (250, ["249", "248", "247"]))
        self.assertEqual(bodies("--page", "2"), (250, ["246", "245", "244"]))
        self.assertEqual(bodies("--page", "84"), (250, ["0"]))
        self.assertEqual(bodies("--page", "85"), (250, []))
        self.assertEqual(bodies("--type", "odd", "--page", "2"), (125, ["243", "241", "239"]))
        last = self.errand("failed", "list", "--page", "13", *failed).stdout
        self.assertNotIn("next", last)
        groups = self.json("failed", "list", "--stats", *failed)
        self.assertEqual([group["count"] for group in groups], [125, 125])

    def test_a_page_of_many_large_failures_needs_little_memory(self):
        count, size = 1000, 100_000
        # One at a time: what this process holds counts for those it starts.
        failed = self.insert_failures(("X", f'"{"x" * size}"') for _ in range(count))
        # What a sanitizer keeps of freed memory would count, too.
        environment = {**self.environment, "ASAN_OPTIONS": "quarantine_size_mb=1"}
        for options in (("--page-size", "2"), ("--stats",)):
            listing = subprocess.Popen(
                [self.program, "failed", "list", "--json", *options, *failed],
                stdout=subprocess.DEVNULL,
                cwd=self.directory,
                env=environment,
            )
            _, status, usage = os.wait4(listing.pid, 0)
            listing.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(listing.returncode, 0)
            self.assertLess(usage.ru_maxrss * 1024, count * size)

    def test_failed_messages_are_removed(self):
        self.errand("send", "errand.fail", "[]", "--transport", self.dsn)
        self.drain("--transport", self.dsn)
        failed = ("--transport", f"sqlite:{self.file}?queue_name=failed")
        self.errand("failed", "remove", "--all", *failed, expect=2)
        self.errand("failed", "remove", "77", *failed, expect=5)
        self.assertEqual(self.json("failed", "remove", "--all", "--yes", *failed), {"removed": 1})

    def test_tasks_and_messages_are_served_together(self):
        task = self.submit("errand.echo", "1")
        self.errand("send", "errand.echo", "2", "--transport", self.dsn)
        self.drain("--queue", "default", "--transport", self.dsn)
        self.assertEqual(self.json("status", task)["status"], "completed")
        self.assertEqual(self.rows("SELECT * FROM messenger_messages"), [])

    def test_a_killed_worker_loses_nothing(self):
        """It is killed when the handler has done its work, before the message is settled."""
        dsn = self.dsn + "&redeliver_timeout=1"
        self.errand("send", "X", '{"n":1}', "--transport", dsn)
        handler = "X=cat >> effects; echo >> effects; [ -e killed ] || { touch killed; kill -9 $PPID; }"
        self.errand("worker", "--transport", dsn, "--exec", handler, expect=-9)
        self.assertEqual(len(self.rows("SELECT * FROM messenger_messages")), 1)
        self.wait_until(
            lambda: self.drain("--transport", dsn, "--exec", handler)
            or not self.rows("SELECT * FROM messenger_messages"),
            "the message was never delivered again",
        )
        self.assertEqual((self.directory / "effects").read_text(), '{"n":1}\n' * 2)

    def test_a_handler_that_takes_longer_than_the_redeliver_timeout_keeps_its_message(self):
        dsn = self.dsn + "&redeliver_timeout=3"
        self.errand("send", "X", "{}", "--transport", dsn)
        slow = self.start_worker(
            "--transport", dsn, "--limit", "1", "--exec", "X=echo >> began; sleep 9"
        )
        self.wait_until((self.directory / "began").exists, "the handler never began")
        while slow.poll() is None:
            self.drain("--transport", dsn, "--exec", "X=echo >> began")
        self.assertEqual((self.directory / "began").read_text(), "\n")

    def test_a_command_that_wants_the_terminal_does_not_stop_the_worker(self):
        """It gets none: in the background it would be stopped for ever."""
        self.errand("send", "X", "{}", "--transport", self.dsn)
        master, slave = pty.openpty()
        worker = subprocess.Popen(
            [self.program, "worker", "--drain", "--transport", self.dsn]
            + ["--exec", "X=touch began; head -c 1 < /dev/tty"],
            stdin=slave,
            stdout=slave,
            stderr=subprocess.PIPE,
            cwd=self.directory,
            env=self.environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),
        )
        self.addCleanup(self._end, worker)
        for descriptor in (master, slave):
            self.addCleanup(os.close, descriptor)
        _, errors = worker.communicate(timeout=20)
        self.assertTrue((self.directory / "began").exists())
        self.assertIn(b"/dev/tty", errors)
        self.assertIn(b"1 to be retried", errors)

    def test_purge_needs_a_word(self):
        self.errand("send", "X", "--transport", self.dsn)
        self.errand("transport", "purge", self.dsn, expect=2)
        purged = self.errand("transport", "purge", self.dsn, "--yes").stdout
        self.assertEqual(purged, "Removed 1 message from async\n")

    def test_what_nobody_could_read_is_not_sent(self):
        stamp = "X-Message-Stamp-App\\Tenant"
        for arguments, reason in (
            (("",), "type"),
            (("t" * 191,), "type"),
            (("X", "--header", f"{stamp}=1"), f"header {stamp}"),
            (("X", "--header", "type=Y"), "header type"),
        ):
            with self.subTest(arguments=arguments):
                refused = self.errand("send", *arguments, "--transport", self.dsn, expect=2).stderr
                self.assertIn(reason, refused)
        self.errand("send", "X", "--header", stamp + '=[{"id":1}]', "--transport", self.dsn)
        self.assertEqual(self.rows("SELECT count(*) FROM messenger_messages"), [(1,)])

    def test_setup_creates_although_the_dsn_says_no_auto_setup(self):
        """Symfony's own DSN has auto_setup=0."""
        dsn = self.dsn + "&auto_setup=0"
        refused = self.errand("send", "X", "--transport", dsn, expect=6).stderr
        self.assertIn("errand transport setup", refused)
        self.errand("transport", "setup", dsn)
        self.errand("send", "X", "--transport", dsn)

    def test_mistakes_are_explained(self):
        unknown = self.errand("send", "X", "--transport", "asinc", expect=2).stderr
        self.assertIn("asinc", unknown)
        self.assertIn("DSN", unknown)
        self.errand("send", "X", "{broken", "--transport", self.dsn, expect=2)
        self.errand("transport", "stats", expect=2)
        missing = f"sqlite:{self.directory}/absent.db"
        self.errand("transport", "stats", missing, expect=6)
        consumed = self.errand(
            "worker", "--transport", f"sqlite:{self.file}?queue_name=failed", expect=2
        ).stderr
        self.assertIn("errand failed retry", consumed)

    def test_the_configuration_is_checked_by_place(self):
        for change, place in (
            ({"transports": {"a": {}}}, "transports.a"),
            ({"transports": {"a": {"dsn": "nonsense"}}}, "transports.a.dsn"),
            ({"failure_transport": "none"}, "failure_transport"),
            ({"routing": {"X": "none"}}, "routing.X"),
            ({"rooting": {}}, "rooting"),
            ({"transports": []}, "transports"),
        ):
            with self.subTest(place=place):
                self.configure(**change)
                self.assertIn(place, self.errand("send", "X", expect=2).stderr)
        secret = {"a": {"dsn": "postgresql://u:hunter2@h/d?queue_name=a", "x": 1}}
        self.configure(transports=secret)
        self.assertNotIn("hunter2", self.errand("send", "X", expect=2).stderr)
        self.errand("send", "X", "--config", "absent.json", expect=2)
        self.errand("worker", "--drain", "--config", "absent.json", expect=2)


if __name__ == "__main__":
    unittest.main()
