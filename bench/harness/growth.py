"""How Errand's figures change with the backlog, the workers, the payload, an old transaction, and
time."""

import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from . import charts, report

ENGINES = ("sqlite", "postgres", "redis", "redis/compact")
BACKLOGS = (1_000, 100_000, 3_000_000)  # the first is the one that `errand bench` always measures
PROCESSES = (1, 2, 4, 8)
PAYLOADS = (100, 10_000, 1_000_000)
PARTS = ("backlog", "processes", "payload", "horizon", "steady")


def add_arguments(parser):
    group = parser.add_argument_group("growth")
    group.add_argument("--growth", nargs="*", choices=PARTS, metavar="PART",
                       help=f"measure growth instead of peers: {', '.join(PARTS)}; all by default")
    group.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES[:3]),
                       help="all but redis/compact by default, which has its server in common with redis")
    group.add_argument("--tasks", type=int, default=50_000, help="of each drain (50,000)")
    group.add_argument("--most-backlog", type=int, default=BACKLOGS[-1],
                       help="leave out greater backlogs, but not 100,000 (3,000,000)")
    group.add_argument("--steady-seconds", type=int, default=3600, help="of steady load (3600)")
    group.add_argument("--steady-rate", type=int, default=1000, help="tasks a second (1000)")


def is_wanted(arguments):
    return arguments.growth is not None


def run(program, servers, arguments, tell):
    parts = arguments.growth or PARTS
    if arguments.steady_seconds < 10:
        raise SystemExit("bench: --steady-seconds must be 10 or more: clean-ups come before samples")
    results = {}
    with tempfile.TemporaryDirectory(prefix="errand-growth-") as directory:
        bench = Bench(program, servers, directory, tell)
        # First, so that what the others leave in the storage is not counted as its growth.
        if "steady" in parts:
            results["steady"] = bench.steady_on_all(arguments.engines, arguments.steady_rate,
                                                    arguments.steady_seconds)
        if "backlog" in parts:
            sizes = [size for size in BACKLOGS if size <= max(arguments.most_backlog, BACKLOGS[1])]
            results["backlog"] = {engine: bench.backlog(engine, sizes)
                                  for engine in arguments.engines}
        if "processes" in parts:
            results["processes"] = {engine: bench.processes(engine, arguments.tasks)
                                    for engine in arguments.engines}
        if "payload" in parts:
            results["payload"] = {engine: bench.payload(engine, arguments.tasks)
                                  for engine in arguments.engines}
        if "horizon" in parts:
            results["horizon"] = bench.horizon(arguments.tasks)
    tell("")
    return results


class Bench:
    def __init__(self, program, servers, directory, tell):
        self._program = program
        self._servers = servers
        self._directory = directory
        self._tell = tell

    def backlog(self, engine, sizes):
        """Backlog → a claim of 100 in ms, the median of some fifty; the least one is measured beside
        each of the others."""
        least, *greater = sizes
        found = {least: []}
        for size in greater:
            self._tell(f"{engine}: claims out of {size:,}")
            os.sync()  # nobody waits for what others have left to be written
            figures = self._errand_bench(engine, "--tasks", "100", "--backlog", str(size),
                                         "--keep-backlog")
            found[least].append(figures["claim_1000_ms"])
            found[size] = figures["claim_backlog_ms"]
            self._forget_all(engine)
        return {**found, least: statistics.median(found[least])}

    def processes(self, engine, tasks):
        """Worker processes → tasks a second."""
        found = {count: [] for count in PROCESSES}
        for _ in range(3):
            for count in PROCESSES:
                self._tell(f"{engine}: {count} worker processes")
                self._forget_all(engine)  # the same beginning for all
                found[count].append(self._drain(engine, tasks, count))
        return {count: statistics.median(rates) for count, rates in found.items()}

    def payload(self, engine, tasks):
        """Payload in bytes → figures; fewer tasks of the big ones."""
        found = {}
        for size in PAYLOADS:
            self._tell(f"{engine}: payloads of {size:,} bytes")
            count = max(100, min(tasks, 100_000_000 // size))
            figures = self._errand_bench(engine, "--tasks", str(count), "--payload", str(size),
                                         rounds=1)
            found[size] = {name: figures[name] for name in ("submit_bulk", "drain", "e2e_p50_ms")}
        return found

    def horizon(self, tasks):
        """Tasks a second, drains without and under an old transaction in turn: the table grows from
        one to the next, and must not grow for the one kind only."""
        found = {"free": [], "held": []}
        for _ in range(3):
            self._tell("postgres: a drain without an old transaction")
            found["free"].append(self._drain("postgres", tasks, 1))
            with self._old_transaction():
                self._tell("postgres: a drain under an old transaction")
                found["held"].append(self._drain("postgres", tasks, 1))
        return found

    @contextmanager
    def _old_transaction(self):
        holder = subprocess.Popen(
            ["psql", "-h", self._servers.postgres, "-U", "errand", "-d", "errand", "-qX"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            holder.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
                               "SELECT count(*) FROM async_tasks;\n")
            holder.stdin.flush()
            holder.stdout.readline()  # it has its snapshot
            yield
        finally:
            holder.kill()
            holder.wait()

    def steady_on_all(self, engines, rate, seconds):
        """At the same time: it is about memory and bloat, not about speed."""
        stopping = threading.Event()
        with ThreadPoolExecutor(max_workers=len(engines)) as pool:
            try:
                loads = {engine: pool.submit(self.steady, engine, rate, seconds, stopping)
                         for engine in engines}
                return {engine: load.result() for engine, load in loads.items()}
            finally:
                stopping.set()

    def steady(self, engine, rate, seconds, stopping):
        """A batch a second, a worker, and what it costs: a sample each hundredth of the time. What
        ended more than a minute ago is cleaned up, so that a storage which grows is bloated; samples
        begin after the first clean-up that finds something."""
        queue = f"steady-{time.monotonic_ns()}"
        worker = self._start_worker(engine, queue)
        samples = []
        kept = min(60, max(seconds // 4, 1))  # less in a short try
        every = max(seconds / 100, 1)
        began = time.monotonic()
        next_sample = began + kept + every
        batches = 0
        try:
            for second in range(seconds):
                if worker.poll() is not None:
                    raise SystemExit(f"bench: the worker ended with status {worker.returncode}")
                self._submit(engine, queue, rate)
                batches += 1
                if time.monotonic() >= next_sample:
                    self._tell(f"{engine}: {second} of {seconds} s of steady load")
                    next_sample += every
                    self._errand(engine, "clean", "--older-than", f"{kept}s")
                    samples.append({"second": round(time.monotonic() - began),
                                    "worker_mb": _resident_mb(worker.pid),
                                    "storage_mb": self._storage_mb(engine),
                                    "waiting": self._waiting(engine, queue)})
                if stopping.wait(max(0.0, began + second + 1 - time.monotonic())):
                    break
            achieved = rate * batches / (time.monotonic() - began)
        finally:
            worker.terminate()
            worker.wait()
        return {"rate": achieved, "samples": samples}

    def _forget_all(self, engine):
        if engine == "sqlite":
            for file in Path(self._directory).glob("bench.db*"):
                file.unlink()
        elif engine == "postgres":
            self._errand(engine, "setup")  # it may be the first to be asked
            self._servers.sql("errand", "TRUNCATE async_tasks")
        else:
            self._servers.forget_redis()

    def _errand_bench(self, engine, *options, rounds=3):
        return json.loads(self._errand(engine, "bench", "--json", "--queue-only", "--rounds",
                                       str(rounds), *options))

    def _drain(self, engine, tasks, processes):
        """Tasks a second, from the start of the first task to the end of the last one."""
        queue = f"growth-{time.monotonic_ns()}"
        self._errand(engine, "setup")
        self._errand(engine, "queue", "pause", queue)
        self._submit(engine, queue, tasks)
        workers = [self._start_worker(engine, queue) for _ in range(processes)]
        try:
            # All of them have started before there is something to do.
            self._wait_until(lambda stats: processes == sum(
                queue in worker["queues"] for worker in stats["workers"]), engine, workers)
            self._errand(engine, "queue", "resume", queue)
            self._wait_until(lambda stats: not any(
                row["queue"] == queue for row in stats["queues"]), engine, workers)
        finally:
            for worker in workers:
                worker.terminate()
                worker.wait()
        return tasks / self._elapsed(engine, queue, tasks, processes)

    def _wait_until(self, condition, engine, workers):
        """Seldom asked, and not at once: that takes its time, too."""
        time.sleep(1)
        while not condition(json.loads(self._errand(engine, "stats", "--json"))):
            if any(worker.poll() is not None for worker in workers):
                raise SystemExit("bench: a worker ended too early")
            time.sleep(1)

    def _elapsed(self, engine, queue, tasks, processes):
        """In seconds, from the first start to the last end: the oldest task has started first, and
        the last to end is among the newest: a worker holds some 1,000, and four times as many are
        read for each."""
        first_page = self._completed(engine, queue, 1)
        if first_page["total"] != tasks:
            raise SystemExit("bench: some tasks were not completed")
        last = first_page["total_pages"]
        newest = [self._completed(engine, queue, page)
                  for page in range(2, min(4 * processes, last) + 1)]
        oldest = self._completed(engine, queue, last)
        return (max(_moment(task["completedAt"])
                    for page in [first_page, *newest] for task in page["items"])
                - min(_moment(task["startedAt"]) for task in oldest["items"])).total_seconds()

    def _completed(self, engine, queue, page):
        return json.loads(self._errand(engine, "list", "--status", "completed", "--queue", queue,
                                       "--json", "--page", str(page), "--page-size", "1000"))

    def _submit(self, engine, queue, tasks):
        line = json.dumps({"to": "somebody@example.com", "subject": "Your order", "body": "x" * 138})
        self._errand(engine, "submit", "errand.echo", "--jsonl", "-", "--queue", queue,
                     text=f"{line}\n" * tasks)

    def _start_worker(self, engine, queue, *options):
        return subprocess.Popen([self._program, "worker", "--queue", queue, "--log-level", "error",
                                 *options], env=self._environment(engine))

    def _errand(self, engine, *arguments, text=None):
        done = subprocess.run([self._program, *arguments], env=self._environment(engine),
                              input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"bench: errand {' '.join(arguments)} ended with status "
                             f"{done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def _environment(self, engine):
        return {**os.environ, "ERRAND_DSN": self._servers.dsn(engine, self._directory)}

    def _storage_mb(self, engine):
        if engine == "postgres":
            size = int(self._servers.sql("errand", "SELECT pg_total_relation_size('async_tasks')"))
        elif engine.startswith("redis"):
            size = int(self._servers.redis_info("memory")["used_memory"])
        else:
            size = sum(file.stat().st_size for file in Path(self._directory).glob("bench.db*"))
        return size / 1e6

    def _waiting(self, engine, queue):
        stats = json.loads(self._errand(engine, "stats", "--json"))
        return sum(row["due"] for row in stats["queues"] if row["queue"] == queue)


def _moment(text):
    """Trailing zeros of its fraction, and then the fraction, may be missing."""
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    return datetime.fromisoformat(f"{seconds}.{fraction:0<6}+00:00")


def _resident_mb(process):
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def growth_charts(results):
    """Name of the file → its text."""
    drawn = {}
    if "backlog" in results:
        labels = list(next(iter(results["backlog"].values())))
        drawn["growth-backlog.svg"] = charts.lines(
            "A claim of 100 tasks, by the number of waiting ones", "ms",
            [f"{label:,}" for label in labels],
            {engine: list(row.values()) for engine, row in results["backlog"].items()})
    if "processes" in results:
        drawn["growth-processes.svg"] = charts.lines(
            "Drain, by the number of worker processes", "tasks a second", list(PROCESSES),
            {engine: list(row.values()) for engine, row in results["processes"].items()})
    if "payload" in results:
        drawn["growth-payload.svg"] = charts.lines(
            "Drain, by the size of a payload", "MB a second",
            [f"{size:,} B" for size in PAYLOADS],
            {engine: [row[size]["drain"] * size / 1e6 for size in PAYLOADS]
             for engine, row in results["payload"].items()})
    if "horizon" in results:
        rows = [(f"{name} {i + 1}", rate, name == "held")
                for name, rates in results["horizon"].items() for i, rate in enumerate(rates)]
        drawn["growth-horizon.svg"] = charts.bars(
            "PostgreSQL: drains without and under an old transaction", "tasks a second", rows)
    for engine, load in results.get("steady", {}).items():
        samples = load["samples"]
        drawn[f"growth-steady-{engine.replace('/', '-')}.svg"] = charts.lines(
            f"{engine}: steady load", "MB", [f"{sample['second']} s" for sample in samples],
            {"worker": [sample["worker_mb"] for sample in samples],
             "storage": [sample["storage_mb"] for sample in samples]})
    return drawn


def tables(results):
    """Name → rows."""
    found = {}
    if "backlog" in results:
        found["backlog"] = _by_engine("a claim of 100 out of", results["backlog"],
                                      lambda value: f"{value:.2f} ms")
    if "processes" in results:
        found["processes"] = _by_engine("drain, worker processes", results["processes"],
                                        lambda value: report.show("drain", value))
    if "payload" in results:
        found["payload"] = _by_engine(
            "payload in bytes: bulk, drain, submit → result", results["payload"],
            lambda row: ", ".join(report.show(name, value) for name, value in row.items()))
    if "horizon" in results:
        found["horizon"] = [["PostgreSQL, old transaction", "drains one after the other"]] + [
            [name, ", ".join(report.show("drain", rate) for rate in rates)]
            for name, rates in results["horizon"].items()]
    if "steady" in results:
        found["steady"] = [["steady load", "submitted", "worker, first and last",
                            "storage, first and last", "waiting at the end"]] + [
            _steady_row(engine, load["rate"], load["samples"][0], load["samples"][-1])
            for engine, load in results["steady"].items()]
    return found | goal_tables(results)


def _steady_row(engine, rate, first, last):
    return [engine, report.show("rate", rate),
            *(f"{first[name]:.0f} → {last[name]:.0f} MB" for name in ("worker_mb", "storage_mb")),
            f"{last['waiting']:,}"]


def goal_tables(results):
    """What is to be reached: name → rows, for each part that has a goal."""
    found = {}
    for engine, row in results.get("backlog", {}).items():
        least, most = min(row), max(row)
        if most == BACKLOGS[-1]:
            found.setdefault("backlog-goal", [["", "", "ratio", "goal", ""]]).append(
                [f"claim out of {most:,} beside {least:,}", engine,
                 *_verdict(row[most] / row[least], 1.5, at_most=True)])
    for engine, row in results.get("processes", {}).items():
        found.setdefault("processes-goal", [["", "", "ratio", "goal", ""]]).append(
            ["drain by 8 processes beside 2", engine,
             *_verdict(row[8] / row[2], 1.0, at_most=False)])
    return found


def _verdict(ratio, goal, at_most):
    reached = ratio <= goal if at_most else ratio >= goal
    return [f"{ratio:.2f}", f"{'≤' if at_most else '≥'} {goal:g}",
            "reached" if reached else "MISSED"]


def _by_engine(title, results, show_value):
    labels = list(next(iter(results.values())))
    return [[title, *(f"{label:,}" for label in labels)]] + [
        [engine, *(show_value(row[label]) for label in labels)] for engine, row in results.items()]
