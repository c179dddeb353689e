"""Processes of the built program, and a ledger of what they did to each task.

The ledger is a table that triggers fill, inside the transactions that change the tasks: it cannot
miss a change or record one that did not happen.
"""

import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

ERRAND = os.environ["ERRAND_BIN"]

LEDGER = """
CREATE TABLE ledger (
  at      REAL NOT NULL,
  task_id TEXT NOT NULL,
  status  TEXT NOT NULL,
  worker  TEXT,
  result  TEXT,
  version INTEGER NOT NULL
);
CREATE TRIGGER write_ledger AFTER UPDATE OF status ON async_tasks
WHEN new.status <> old.status
BEGIN
  INSERT INTO ledger VALUES ((julianday('now') - 2440587.5) * 86400.0, new.task_id, new.status,
                             CASE WHEN new.status = 'running' THEN new.worker ELSE old.worker END,
                             new.result, new.version);
END;
"""

FINAL = ("completed", "failed", "cancelled")


class ChaosCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="errand-chaos-")
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "tasks.db")
        self.directory = directory.name
        self.environment = dict(os.environ, ERRAND_DSN="sqlite:" + self.path)
        self.workers = []
        self.addCleanup(self.kill_all)
        self.errand("setup")
        with self.connect() as database:
            database.executescript(LEDGER)

    def kill_all(self):
        for worker in self.workers:
            if worker.poll() is None:
                os.kill(worker.pid, signal.SIGCONT)
                worker.kill()
                worker.wait()

    def connect(self):
        return sqlite3.connect(self.path, timeout=60, isolation_level=None)

    def query(self, sql, *parameters):
        database = self.connect()
        try:
            return database.execute(sql, parameters).fetchall()
        finally:
            database.close()

    def errand(self, *arguments, stdin=None, check=True):
        done = subprocess.run([ERRAND, *arguments], env=self.environment, input=stdin, text=True,
                              capture_output=True, timeout=120)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def submit_many(self, count, task_type, payload, *options):
        lines = "".join(json.dumps(payload) + "\n" for _ in range(count))
        out = self.errand("submit", task_type, "--jsonl", "-", *options, stdin=lines).stdout
        ids = out.split()
        self.assertEqual(len(ids), count)
        return ids

    def start_worker(self, *options):
        log = open(os.path.join(self.directory, f"worker-{len(self.workers)}.log"), "w")
        self.addCleanup(log.close)
        worker = subprocess.Popen([ERRAND, "worker", *options], env=self.environment, stderr=log,
                                  stdout=log)
        self.workers.append(worker)
        return worker

    def stop_between_transactions(self, worker):
        """SIGSTOP, but never while the worker holds SQLite's write lock, which nobody could take
        from it: docs/guarantees.md says so, and it is not what these tests are about."""
        while True:
            os.kill(worker.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, worker.pid, os.WSTOPPED)
            database = sqlite3.connect(self.path, timeout=1, isolation_level=None)
            try:
                database.execute("BEGIN IMMEDIATE")
                database.execute("ROLLBACK")
                return
            except sqlite3.OperationalError:
                os.kill(worker.pid, signal.SIGCONT)
            finally:
                database.close()

    def log_of(self, number):
        with open(os.path.join(self.directory, f"worker-{number}.log")) as log:
            return log.read()

    def wait_until(self, condition, what, deadline=60.0):
        """Asks again and again: the processes under test have no other way to tell us."""
        end = time.monotonic() + deadline
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                self.fail(f"{what}: not within {deadline} s; stats: "
                          + self.errand("stats", "--json").stdout)
            time.sleep(0.02)

    def open_tasks(self):
        return self.query("SELECT count(*) FROM async_tasks WHERE completed_at IS NULL")[0][0]

    def assert_each_ended_once(self, ids):
        """None lost, none ended twice, none changed after its end."""
        ended = dict(self.query(
            f"SELECT task_id, count(*) FROM ledger WHERE status IN {FINAL} GROUP BY task_id"))
        self.assertEqual(set(ended), set(ids), "tasks without an end, or unknown ones")
        twice = [task for task, times in ended.items() if times != 1]
        self.assertEqual(twice, [])
        changed = self.query(
            f"""SELECT l.task_id FROM ledger l JOIN async_tasks t USING (task_id)
                WHERE l.status IN {FINAL} AND (l.version <> t.version OR l.status <> t.status)""")
        self.assertEqual(changed, [])
