"""Servers of the tests' own that can be killed, and what the storage on them holds: asked for by
the servers' own clients, not by Errand."""

import os
import pathlib
import subprocess

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "servers"


class Server:
    name = None
    settings = ()

    def __init__(self, directory):
        self.directory = directory

    def act(self, action, *words):
        subprocess.run([SCRIPTS / self.name, action, self.directory, *words], check=True)

    def start(self):
        self.act("start", *self.settings)

    def stop(self):
        self.act("stop")

    def kill(self):
        os.kill(self.process_id(), 9)

    def restart(self):
        self.act("restart")

    @staticmethod
    def ask(command, text=None):
        """What the command prints, line by line; None while the server is away."""
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        return done.stdout.splitlines() if done.returncode == 0 else None


class Postgres(Server):
    name = "postgres"
    settings = ("fsync=on",)

    def dsn(self, directory=None):
        return f"postgresql:///postgres?user=errand&host={directory or self.directory}"

    def process_id(self):
        return int((pathlib.Path(self.directory) / "data" / "postmaster.pid").read_text().split()[0])

    def sql(self, statement):
        return self.ask(["psql", "-qAt", "-h", self.directory, "-U", "errand", "postgres",
                         "-c", statement])

    def cut_connections(self):
        self.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                 "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")

    def counts(self):
        """Tasks by status; None while the server is away."""
        rows = self.sql("SELECT status, count(*) FROM async_tasks GROUP BY status")
        return None if rows is None else {
            status: int(count) for status, count in (row.split("|") for row in rows)}

    def results(self):
        """The results of completed tasks by id."""
        return dict(row.split("|") for row in self.sql(
            "SELECT task_id, result FROM async_tasks WHERE status = 'completed'"))


class Redis(Server):
    name = "redis"
    settings = ("appendonly", "yes", "appendfsync", "always")
    statuses = ("pending", "running", "retrying", "completed", "failed", "cancelled")

    def dsn(self, directory=None):
        return f"redis+unix://{directory or self.directory}/redis.sock?durable=1"

    def process_id(self):
        return int((pathlib.Path(self.directory) / "pid").read_text())

    def cli(self, text, *words):
        return self.ask(["redis-cli", "-s", f"{self.directory}/redis.sock", *words], text)

    def cut_connections(self):
        self.cli("CLIENT KILL TYPE normal SKIPME yes\nCLIENT KILL TYPE pubsub\n")

    def counts(self):
        answers = self.cli("".join(f"ZCARD errand:{'' if status == 'running' else 'index:'}{status}:default\n"
                                   for status in self.statuses))
        if answers is None or not all(answer.isdigit() for answer in answers):
            return None
        return dict(zip(self.statuses, map(int, answers)))

    def results(self):
        """By the keys that every program reads, not by the queue's own."""
        keys = [key for key in self.cli(None, "--scan", "--pattern", "task:*:status")]
        ids = [key.split(":")[1] for key in keys]
        statuses = self.cli("".join(f"GET {key}\n" for key in keys))
        completed = [task for task, status in zip(ids, statuses) if status == "completed"]
        results = self.cli("".join(f"GET task:{task}:result\n" for task in completed))
        return dict(zip(completed, results))


class CompactRedis(Redis):
    """With records that are entries, and claims that are bundles."""

    def dsn(self, directory=None):
        return super().dsn(directory) + "&record=compact"

    def results(self):
        script = """
            local answers = {}
            for _, key in ipairs(redis.call('KEYS', 'task:*:meta')) do
              local fields = {cmsgpack.unpack(redis.call('GET', key))}
              if fields[1] == 'completed' then
                answers[#answers + 1] = string.sub(key, 6, 41)
                answers[#answers + 1] = fields[13]
              end
            end
            return answers"""
        answers = self.cli(None, "EVAL", script, "0")
        return dict(zip(answers[::2], answers[1::2]))


SERVERS = {"postgres": Postgres, "redis": Redis, "redis_compact": CompactRedis}
