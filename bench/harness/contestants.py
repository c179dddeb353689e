"""Who is measured, and how each is run once."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / "peers"


@dataclass(frozen=True)
class Plan:
    tasks: int
    trips: int  # submit → result, or → start
    seconds: int  # a peer's drain ends then; its rate is what it did until then
    repetitions: int


FULL = Plan(tasks=20_000, trips=500, seconds=10, repetitions=5)
QUICK = Plan(tasks=5_000, trips=100, seconds=2, repetitions=3)


class Errand:
    def __init__(self, program, engine, servers, directory):
        self.name = f"errand/{engine}"
        self._program = program
        self._dsn = servers.dsn(engine, directory)

    def run(self, plan):
        answer = _run([self._program, "bench", "--dsn", self._dsn, "--json", "--queue-only",
                       "--rounds", "1", "--tasks", str(plan.tasks)])
        return {name: value for name, value in answer.items() if name not in ("dsn", "tasks")}


class ErrandMessages:
    """Messages without a record, in Symfony's own table or stream."""

    def __init__(self, program, engine, servers, directory):
        self.name = f"errand/{engine}/messages"
        self._program = program
        self._dsn = servers.transport_dsn(engine, directory)

    def run(self, plan):
        answer = _run([self._program, "bench", "--transport", self._dsn, "--json",
                       "--rounds", "1", "--tasks", str(plan.tasks)])
        return {name: value for name, value in answer.items() if name not in ("transport", "tasks")}


class Peer:
    def __init__(self, name, command, servers):
        self.name = name
        self._command = command
        self._environment = servers.environment(name.split("/")[0].replace("-", "_"))

    def run(self, plan):
        return _run([*self._command, str(plan.tasks), str(plan.trips), str(plan.seconds)],
                    self._environment)


def contestants(program, servers, directory, node_directory):
    node = _node(node_directory)
    errand = [Errand(program, engine, servers, directory)
              for engine in ("sqlite", "postgres", "redis")]
    peers = [
        Peer("graphile-worker", [*node, "graphile_worker.mjs"], servers),
        Peer("pg-boss", [*node, "pg_boss.mjs"], servers),
        Peer("symfony/postgres", ["php", PEERS / "symfony.php", "postgres"], servers),
        Peer("bullmq", [*node, "bullmq.mjs"], servers),
        Peer("symfony/redis", ["php", PEERS / "symfony.php", "redis"], servers),
        # Debian's Python: the package is its own.
        Peer("celery", ["/usr/bin/python3", "-B", PEERS / "celery_peer.py"], servers),
        Peer("sidekiq", ["ruby", PEERS / "sidekiq_peer.rb"], servers),
    ]
    messages = [ErrandMessages(program, engine, servers, directory)
                for engine in ("postgres", "redis")]
    return errand + messages + peers


# Names for several, as --only takes them.
GROUPS = {
    "messages": ["errand/postgres/messages", "symfony/postgres",
                 "errand/redis/messages", "symfony/redis"],
}
OF_NODE = {"graphile-worker", "pg-boss", "bullmq"}


def install_node_peers(node_directory):
    """As package-lock.json says, into the build directory; once."""
    node_directory.mkdir(parents=True, exist_ok=True)
    lock = (PEERS / "node" / "package-lock.json").read_bytes()
    installed = node_directory / "node_modules" / ".installed-by"
    for source in (PEERS / "node").iterdir():
        shutil.copy(source, node_directory)
    if installed.is_file() and installed.read_bytes() == lock:
        return
    print("Installing the peers of Node.js into", node_directory, flush=True)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                    "--loglevel=error"], cwd=node_directory, check=True)
    installed.write_bytes(lock)


def versions(node_directory):
    """Of the peers, as they are installed."""
    packages = json.loads((PEERS / "node" / "package.json").read_text())["dependencies"]
    found = {name: packages[name] for name in ("graphile-worker", "pg-boss", "bullmq")}
    if _node(node_directory)[0].exists():
        found["node"] = _output([*_node(node_directory)[:1], "--version"]).lstrip("v")
    for name, package in [("symfony", "php-symfony-messenger"), ("celery", "python3-celery"),
                          ("sidekiq", "ruby-sidekiq"), ("php", "php-cli"), ("ruby", "ruby")]:
        found[name] = _output(["dpkg-query", "-W", "-f", "${Version}", package]).split("+")[0]
    return found


def _node(node_directory):
    return [node_directory / "node_modules" / ".bin" / "node", "--no-warnings"]


def _run(command, environment=None):
    """The figures that the last line of the output names."""
    done = subprocess.run(command, env={**os.environ, **(environment or {})}, check=False,
                          capture_output=True, text=True,
                          cwd=_directory_of(command))
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(map(str, command))} ended with status "
                         f"{done.returncode}:\n{done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def _directory_of(command):
    """Node.js looks for packages beside the script."""
    program = Path(command[0])
    return program.parents[2] if program.name == "node" else None


def _output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
