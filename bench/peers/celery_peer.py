"""Celery on Redis: celery_peer.py TASKS TRIPS SECONDS. Results are not stored, events not sent; the
worker has a process for each core and takes many messages at a time."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager

import redis
from celery import Celery

SOCKET = os.environ["REDIS_SOCKET"]
DATABASE = int(os.environ["REDIS_DATABASE"])
QUEUE = "celery"
ASIDE = "aside"  # where the worker does not look

app = Celery("celery_peer", broker=f"redis+socket://{SOCKET}?virtual_host={DATABASE}")
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=200,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
)


@app.task(name="bench")
def bench(order):
    return order


def rate(count, work):
    began = time.perf_counter()
    work()
    return count / (time.perf_counter() - began)


@contextmanager
def running_worker(server):
    """Once it has taken its first messages."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "celery_peer", "worker", "--loglevel", "ERROR",
         "--without-gossip", "--without-mingle", "--without-heartbeat"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=os.path.dirname(os.path.abspath(__file__)),
        env={**os.environ, "C_FORCE_ROOT": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True)
    try:
        waiting = server.llen(QUEUE)
        while server.llen(QUEUE) == waiting:
            if worker.poll() is not None:
                raise SystemExit(f"the Celery worker ended with status {worker.returncode}")
            time.sleep(0.001)
        yield
    finally:
        os.killpg(worker.pid, 9)  # its own session: the pool's processes, too
        worker.wait()


def drain(server, tasks, seconds):
    """What waits, or as much as is done in these seconds; returns the rate, from the first message that
    was taken."""
    left = lambda: server.llen(QUEUE) + server.hlen("unacked")
    while server.llen(QUEUE) == tasks:
        time.sleep(0.001)
    began = time.perf_counter()
    while left() > 0 and time.perf_counter() - began < seconds:
        time.sleep(0.005)
    return (tasks - left()) / (time.perf_counter() - began)


def main():
    tasks, _, seconds = (int(word) for word in sys.argv[1:4])
    server = redis.Redis(unix_socket_path=SOCKET, db=DATABASE)
    server.flushdb()
    order = {"to": "somebody@example.com", "subject": "Your order", "body": ""}
    order["body"] = "x" * (200 - len(json.dumps(order, separators=(",", ":"))))

    alone = max(tasks // 10, 100)
    bench.delay(order)
    figures = {"submit_seq": rate(alone, lambda: [bench.delay(order) for _ in range(alone)])}
    for _ in range(tasks):
        bench.apply_async((order,), queue=ASIDE)
    with running_worker(server):
        # As `errand bench` does: what was submitted before warms up what drains.
        drain(server, alone, seconds)
        server.delete(QUEUE)
        server.rename(ASIDE, QUEUE)
        figures["drain"] = drain(server, tasks, seconds)
    server.flushdb()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
