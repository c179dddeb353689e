"""Who is measured, and how each is run once."""

import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / "peers"
MOST_SECONDS = 300  # of one contestant's run


@dataclass(frozen=True)
class Plan:
    tasks: int
    seconds: int  # a peer's drain ends then; its rate is what it did until then
    repetitions: int

    @property
    def trips(self):
        """Submit → result, or → start: as many as `errand bench` takes."""
        return min(max(self.tasks // 20, 10), 500)


FULL = Plan(tasks=20_000, seconds=10, repetitions=5)
QUICK = Plan(tasks=5_000, seconds=2, repetitions=3)


class Errand:
    def __init__(self, program, engine, servers, directory):
        self.name = f"errand/{engine}"
        self._program = program
        self._dsn = servers.dsn(engine, directory)
        self._bare_first = False

    def run(self, plan):
        # They take turns at being first, which is the worse place.
        turn = ["--bare-first"] if self._bare_first else []
        self._bare_first = not self._bare_first
        answer = _run([self._program, "bench", "--dsn", self._dsn, "--json", "--queue-only",
                       "--rounds", "1", "--tasks", str(plan.tasks), *turn])
        # Its start_p50_ms lies between two timestamps of the server, a peer's between the caller's
        # and the handler's: not the same thing.
        return {name: value for name, value in answer.items()
                if name not in ("dsn", "tasks", "start_p50_ms")}


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
              for engine in ("sqlite", "postgres", "redis", "redis/compact")]
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
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts",
                    "--loglevel=error"], cwd=node_directory, check=True)
    installed.write_bytes(lock)


def versions(node_directory):
    """Of the peers and what runs them, as they are installed."""
    found = {}
    for name in sorted(OF_NODE):
        package = node_directory / "node_modules" / name / "package.json"
        if package.is_file():
            found[name] = json.loads(package.read_text())["version"]
    for name, package in [("Symfony Messenger", "php-symfony-messenger"),
                          ("Celery", "python3-celery"), ("Sidekiq", "ruby-sidekiq")]:
        installed = _output(["dpkg-query", "-W", "-f", "${source:Upstream-Version}", package])
        found[name] = installed.split("+")[0]
    if _node(node_directory)[0].exists():
        found["Node.js"] = _output([_node(node_directory)[0], "--version"]).lstrip("v")
    found["PHP"] = _output(["php", "-r", "echo PHP_VERSION;"])
    found["Python"] = _output(["/usr/bin/python3", "-c",
                               "import platform; print(platform.python_version())"])
    found["Ruby"] = _output(["ruby", "-e", "print RUBY_VERSION"])
    return found


def _node(node_directory):
    return [node_directory / "node_modules" / ".bin" / "node", "--no-warnings"]


def _run(command, environment=None):
    """The figures that the last line of the output names."""
    shown = " ".join(map(str, command))
    # A session of its own: what it started can be ended with it.
    running = subprocess.Popen(command, env={**os.environ, **(environment or {})}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               cwd=_directory_of(command), start_new_session=True)
    try:
        output, errors = running.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        _end(running)
        raise SystemExit(f"bench: {shown} was not done after {MOST_SECONDS} s") from None
    except BaseException:
        _end(running)
        raise
    if running.returncode != 0:
        raise SystemExit(f"bench: {shown} ended with status {running.returncode}:\n"
                         f"{errors.strip()[-2000:]}")
    return json.loads(output.strip().splitlines()[-1])


def _end(running):
    """First so that it may end its own worker."""
    os.killpg(running.pid, signal.SIGINT)
    try:
        running.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _directory_of(command):
    """Node.js looks for packages beside the script."""
    program = Path(command[0])
    return program.parents[2] if program.name == "node" else None


def _output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
