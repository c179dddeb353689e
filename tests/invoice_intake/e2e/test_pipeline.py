"""From e-mail to invoice, on the built program: once on SQLite, once on PostgreSQL."""

import csv
import io
import json
import os
import signal
import subprocess
import unittest

from built_program import DEADLINE, wait_for_text
from invoices_program import PROGRAM, InvoicesTest, OnPostgres, mail, number, xml_invoice

UNKNOWN = "0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10"


class Pipeline(InvoicesTest):
    def one_mail(self, i=1, **options):
        content = mail(f"{i}@x", [("发票.xml", xml_invoice(number(i)))], **options)
        return self.write(f"{i}.eml", content)

    def test_an_email_becomes_an_invoice(self):
        [outcome] = self.ingest(self.one_mail())
        self.assertEqual(outcome["status"], "created")
        self.assertEqual(outcome["user"], "ann@example.com")
        self.assertEqual(self.json("tasks", "show", outcome["task"])["status"], "pending")
        self.drain()

        task = self.json("tasks", "show", outcome["task"])
        self.assertEqual(task["status"], "completed", task)
        self.assertEqual(task["processed_count"], 1)
        self.assertEqual(task["invoices_created"], 1)
        self.assertEqual(task["result_data"]["summary"]["succeeded"], 1)
        self.assertEqual(task["result_data"]["processing_details"]["celery_task_id"], task["task_id"])
        [invoice] = task["invoices"]
        self.assertEqual(invoice["invoice_number"], number(1))
        self.assertEqual(invoice["total"], "113.00")
        self.assertEqual(invoice["seller_name"], "供应商公司")
        self.assertEqual(invoice["issue_date"], "2025-02-08")
        self.assertEqual(invoice["fields"]["total"]["source"], "xml")
        self.assertEqual(invoice["line_items"][0]["name"], "*餐饮服务*餐费")
        for words in (("tasks", "list"), ("tasks", "show", outcome["task"]), ("invoices", "list"),
                      ("monitor", "recent"), ("monitor", "performance")):
            self.assertIn("发票" if words[0] == "tasks" else "1", self.invoices(*words).stdout)

    def test_a_list_has_the_form_of_a_page(self):
        for i in range(1, 4):
            self.ingest(self.one_mail(i))
        page = self.json("tasks", "list", "--page-size", "2")
        self.assertEqual((page["total"], page["page"], page["page_size"], page["total_pages"]),
                         (3, 1, 2, 2))
        self.assertEqual(
            set(page["items"][0]),
            {"id", "user_id", "task_type", "task_id", "status", "email_from", "email_subject",
             "attachments_count", "processed_count", "failed_count", "invoices_created",
             "error_message", "retry_count", "can_retry", "started_at", "completed_at",
             "processing_time_seconds", "created_at", "updated_at"})
        show = self.json("tasks", "show", page["items"][0]["id"])
        self.assertEqual(set(show) - set(page["items"][0]),
                         {"task_data", "result_data", "error_details", "next_retry_at", "invoices"})
        wanted = json.dumps({"email_data": {"message_id": "2@x"}})
        self.assertEqual(self.json("tasks", "list", "--data", wanted)["total"], 1)
        self.assertEqual(self.json("tasks", "list", "--status", "failed,completed")["total"], 0)
        self.assertEqual(self.json("tasks", "list", "--subject", "发票", "--type", "email_invoice",
                                   "--from", "2020-01-01", "--until", "2020-12-31")["total"], 0)

    def test_one_bad_attachment_does_not_fail_the_others(self):
        content = mail("bad@x", [("a.pdf", b"%PDF-1.4 broken"), ("b.xml", xml_invoice(number(9)))])
        [outcome] = self.ingest(self.write("bad.eml", content))
        self.drain()
        task = self.json("tasks", "show", outcome["task"])
        self.assertEqual(task["status"], "completed", task)
        self.assertEqual((task["processed_count"], task["failed_count"], task["invoices_created"]),
                         (2, 1, 1), task["result_data"])
        self.invoices("tasks", "retry", outcome["task"], expect=1)
        self.assertEqual(self.json("tasks", "list", "--with-failures")["total"], 1)
        self.assertIn("1 of 2 attachments failed", self.invoices("tasks", "list").stdout)
        self.assertIn("ocr", self.invoices("tasks", "retry", "--help").stdout)
        [change] = self.json("tasks", "retry", "--ocr", outcome["task"])
        self.drain()
        [again] = self.json("tasks", "list", "--type", "ocr_retry")["items"]
        self.assertIn(again["id"], change["outcome"])
        self.assertEqual(again["status"], "failed", "the bytes are as bad as before")
        self.assertEqual(len(self.json("monitor", "failed", expect=1)), 1)
        self.invoices("tasks", "retry", again["id"], expect=1)
        self.invoices("tasks", "retry", again["id"], "--reset")
        self.assertEqual(self.json("tasks", "show", again["id"])["status"], "retrying")

    def test_the_same_email_and_the_same_invoice_are_found_again(self):
        file = self.one_mail()
        [first] = self.ingest(file)
        [again] = self.ingest(file)
        self.assertEqual((again["status"], again["task"]), ("known", first["task"]))
        self.drain()
        other = self.write("2.eml", mail("2@x", [("copy.xml", xml_invoice(number(1)))]))
        [second] = self.ingest(other)
        self.drain()
        self.assertEqual(self.json("invoices", "list")["total"], 1)
        result = self.json("tasks", "show", second["task"])["result_data"]
        self.assertEqual(result["summary"]["skipped_duplicates"], 1)
        self.assertEqual(result["attachments"][0]["status"], "duplicate")
        self.assertIn("+1 known", self.invoices("tasks", "list").stdout)
        [invoice] = self.json("invoices", "list")["items"]
        self.assertIn(invoice["id"], self.invoices("tasks", "show", second["task"]).stdout)
        shown = self.invoices("invoices", "show", invoice["id"]).stdout
        self.assertIn("invoice_number", shown)
        self.assertIn("xml", shown)
        self.assertEqual(self.json("invoices", "show", invoice["id"])["id"], invoice["id"])
        self.assertIn("no invoice", self.invoices("invoices", "show", UNKNOWN, expect=5).stderr)

    def test_files_are_imported_as_one_batch(self):
        files = [self.write(f"{i}.xml", xml_invoice(number(i))) for i in range(3)]
        [outcome] = self.ingest(*files)
        self.drain()
        task = self.json("tasks", "show", outcome["task"])
        self.assertEqual((task["task_type"], task["status"], task["invoices_created"]),
                         ("batch_import", "completed", 3))
        self.assertEqual(task["email_subject"], "0.xml and 2 more")
        [again] = self.ingest(*reversed(files))
        self.assertEqual((again["status"], again["task"]), ("known", outcome["task"]))

    def test_a_maildir_is_emptied_into_cur(self):
        for name in ("new", "cur", "tmp"):
            (self.directory / "Maildir" / name).mkdir(parents=True)
        for i in range(3):
            content = mail(f"{i}@x", [("a.xml", xml_invoice(number(i)))])
            self.write(f"Maildir/new/{i}.host", content)
        self.assertEqual(len(self.ingest("--maildir", "Maildir")), 3)
        self.assertEqual(len(list((self.directory / "Maildir/cur").iterdir())), 3)
        self.assertEqual(self.ingest("--maildir", "Maildir"), [])

    def test_tasks_are_cancelled_deleted_and_restored(self):
        [outcome] = self.ingest(self.one_mail())
        task = outcome["task"]
        self.invoices("tasks", "delete", task)
        self.drain()
        self.assertEqual(self.json("tasks", "list")["total"], 0)
        self.assertEqual(self.json("tasks", "list", "--deleted")["total"], 1)
        self.invoices("tasks", "restore", task)
        self.drain()
        self.assertEqual(self.json("tasks", "show", task)["status"], "completed")
        [second] = self.ingest(self.one_mail(2))
        self.invoices("tasks", "cancel", second["task"])
        self.drain()
        self.assertEqual(self.json("tasks", "show", second["task"])["status"], "cancelled")
        self.invoices("tasks", "cancel", second["task"], expect=1)
        self.assertEqual(self.json("monitor", "stuck"), [])

    def test_invoices_are_exported_as_csv_and_json(self):
        content = mail("1@x", [("a.xml", xml_invoice(number(1), seller='=cmd|"x",1'))])
        self.ingest(self.write("1.eml", content))
        self.drain()
        [row] = csv.DictReader(io.StringIO(self.invoices("invoices", "export").stdout))
        self.assertEqual(row["invoice_number"], number(1))
        self.assertEqual(row["total"], "113.00")
        self.assertEqual(row["seller_name"][:2], "'=", "a formula must not run in a spreadsheet")
        [invoice] = json.loads(
            self.invoices("invoices", "export", "--format", "json").stdout)
        self.assertEqual(invoice["invoice_number"], number(1))
        self.invoices("invoices", "export", "--output", "out.csv")
        self.assertIn(number(1), (self.directory / "out.csv").read_text())
        self.assertEqual(self.json("invoices", "list", "--from", "2025-02-09")["total"], 0)

    def test_users_do_not_see_each_other(self):
        self.invoices("user", "add", "bob@example.com")
        [outcome] = self.ingest(self.one_mail())
        self.drain()
        self.assertIn("which user", self.invoices("tasks", "list", expect=2).stderr)
        self.assertEqual(self.json("tasks", "list", "--user", "bob@example.com")["total"], 0)
        error = self.invoices("tasks", "show", outcome["task"], "--user", "bob@example.com", expect=5)
        self.assertIn("has no task", error.stderr)
        self.assertEqual(self.json("invoices", "list", "-u", "ann@example.com")["total"], 1)
        self.assertEqual(len(self.json("user", "list")), 2)

    def test_errors_say_what_is_wrong(self):
        def fails(*arguments, expect=2):
            return self.invoices(*arguments, expect=expect).stderr

        self.assertIn("no task", fails("tasks", "show", UNKNOWN, expect=5))
        self.assertIn("is not an id", fails("tasks", "show", "17"))
        self.assertIn("not a file", fails("ingest", "nowhere.eml"))
        self.assertIn("one of them", fails("ingest"))
        self.assertIn("not a Maildir", fails("ingest", "--maildir", "."))
        self.assertIn("no user",
                      fails("ingest", "--user", "eve@example.com", self.one_mail(), expect=5))
        self.assertIn("no other", fails("worker", "--drain", "--queue", "x"))
        self.assertIn("cannot run", fails("worker", "--drain", "--extractor", "/bin/nope"))
        self.assertIn("write sqlite:FILE or postgresql://", fails("tasks", "list", "--dsn", "postgresql:"))
        self.ingest(self.one_mail(77))
        self.assertIn("There is no page 99", self.invoices("tasks", "list", "--page", "99").stdout)
        self.assertIn("already", fails("user", "add", "ANN@example.com"))
        self.assertIn("task_data", fails("tasks", "list", "--data", "{"))
        self.assertIn("2026-01-31", fails("tasks", "list", "--from", "yesterday"))
        secret = "topsecret"
        for words in (("ingest", "--imap", f"imaps://ann:{secret}@mail.example"),
                      ("tasks", "list", "--dsn", f"postgresql://u:{secret}@h/d")):
            error = fails(*words)
            self.assertIn("password", error)
            self.assertNotIn(secret, error)
        self.assertIn("missing", fails("ingest", "--imap", "imaps://ann@mail.example"))
        [refused] = self.ingest(self.write("x.eml", b"\0\1\2"), expect=1)
        self.assertEqual(refused["status"], "refused")

    def test_excel_gets_a_mark_and_numbers_as_text(self):
        self.ingest(self.one_mail())
        self.drain()
        text = self.invoices("invoices", "export", "--excel").stdout
        self.assertTrue(text.startswith("\ufeff"))
        [row] = csv.DictReader(io.StringIO(text[1:]))
        self.assertEqual(row["invoice_number"], f'="{number(1)}"')
        self.assertEqual(row["total"], "113.00")
        self.assertIn(number(1), self.invoices("invoices", "export", "--json").stdout)
        self.invoices("invoices", "export", "--json", "--excel", expect=2)

    def test_who_only_looks_makes_no_database(self):
        if not self.environment["ERRAND_DSN"].startswith("sqlite:"):
            return
        error = self.invoices("tasks", "list", "--dsn", "sqlite:none.db", expect=6).stderr
        self.assertIn("does not exist", error)
        self.assertFalse((self.directory / "none.db").exists())

    def test_a_worker_fails_tasks_that_killed_their_workers(self):
        extractor = self.write("hangs", b"#!/bin/sh\nexec sleep 600\n")
        extractor.chmod(0o755)
        [outcome] = self.ingest(self.one_mail())

        def show():
            return self.json("tasks", "show", outcome["task"])

        starts = set()
        for _ in range(3):
            worker = self.start("worker", "--lease", "1s", "--extractor", extractor)
            self.wait_until(lambda: show()["started_at"] not in (None, *starts), "it does not start")
            starts.add(show()["started_at"])
            worker.kill()
            worker.wait()
        # One notices that the last is gone, and the next settles what it left.
        worker = self.start("worker", "--lease", "1s", "--log-level", "warning")
        wait_for_text(worker.stderr, "lost")
        self.stop(worker)
        self.drain()
        task = show()
        self.assertEqual(task["status"], "failed", task)
        self.assertEqual(task["error_details"]["error_code"], "worker_lost")
        self.assertEqual(len(self.json("monitor", "failed", expect=1)), 1)

    def test_old_content_is_purged_and_results_stay(self):
        [outcome] = self.ingest(self.one_mail())
        self.drain()
        for file in (self.directory / "originals").glob("*/*"):
            os.utime(file, (0, 0))
        self.assertEqual(self.json("purge")["tasks"], 0, "it is not a year old")
        report = self.json("purge", "--older-than", "0s", "--dry-run")
        self.assertEqual((report["tasks"], report["originals"]), (1, 1))
        report = self.json("purge", "--older-than", "0s")
        self.assertEqual((report["tasks"], report["originals"]), (1, 1))
        self.assertEqual(list((self.directory / "originals").glob("*/*")), [])
        task = self.json("tasks", "show", outcome["task"])
        self.assertNotIn("body_text", task["task_data"]["email_data"])
        self.assertEqual(task["result_data"]["summary"]["succeeded"], 1)
        self.assertEqual(self.json("invoices", "list")["total"], 1)

    def test_bench_measures_and_leaves_nothing(self):
        ended = self.run_bench("--tasks", "1000", "--rounds", "10")
        figures = json.loads(ended.stdout)
        self.assertEqual(len(figures), 5)
        met = [figure["p99_ms"] < figure["target_ms"] for figure in figures]
        self.assertEqual([figure["met"] for figure in figures], met)
        self.assertEqual(ended.returncode, 0 if all(met) else 1, ended.stderr)
        self.assertEqual(self.left_behind(), (0, 1))

        process = self.start("bench", "--tasks", "1000000")
        wait_for_text(process.stderr, "storing")
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 1, error)
        self.assertEqual(self.left_behind(), (0, 1))

    def run_bench(self, *arguments):
        return subprocess.run([PROGRAM, "bench", "--json", *arguments], capture_output=True,
                              encoding="utf-8", timeout=DEADLINE, cwd=self.directory,
                              env=self.environment, check=False)

    def left_behind(self):
        """Errand's tasks, and users."""
        return self.count_errand_tasks(), len(self.json("user", "list"))

    def test_extract_needs_no_database(self):
        file = self.write("a.xml", xml_invoice(number(5)))
        report = self.json("extract", file, ERRAND_DSN="sqlite:/nowhere/x.db")
        self.assertEqual(report["attachments"][0]["invoices"][0]["number"]["value"], number(5))
        shown = self.invoices("extract", file).stdout
        self.assertIn(number(5), shown)
        self.assertIn("xml", shown)
        self.invoices("extract", self.write("none.txt", b"nothing"), expect=1)


class PipelineOnPostgres(OnPostgres, Pipeline):
    def test_the_owner_is_refused_where_users_matter(self):
        error = self.invoices("tasks", "list", expect=6, ERRAND_DSN=self.owner_dsn).stderr
        self.assertIn("errand_invoices", error)


if __name__ == "__main__":
    unittest.main()
