"""The charts of the run beside the peers."""

from . import charts

POSTGRES = ("errand/postgres", "graphile-worker", "pg-boss", "symfony/postgres")
REDIS = ("errand/redis/compact", "errand/redis", "bullmq", "sidekiq", "symfony/redis",
         "celery")
RATES = {
    "drain": "drain of a backlog",
    "submit_bulk": "submit, 1,000 at a time",
    "submit_c50": "submit, 50 callers of one program",
    "submit_seq": "submit, one caller",
}


def peer_charts(found):
    """Name of the file → its text."""
    drawn = {}
    for server, names in (("PostgreSQL", POSTGRES), ("Redis", REDIS)):
        for figure, title in RATES.items():
            rows = [(name, found[name][figure], name.startswith("errand/"))
                    for name in names if figure in found.get(name, {})]
            if rows:
                drawn[f"{server.lower()}-{figure.replace('_', '-')}.svg"] = charts.bars(
                    f"{server}: {title}", "tasks a second, more is better", rows)
    waits = [("errand/postgres", "e2e_p50_ms", "submit → result"),
             ("graphile-worker", "start_p50_ms", "submit → start"),
             ("errand/redis/compact", "e2e_p50_ms", "submit → result"),
             ("errand/redis", "e2e_p50_ms", "submit → result"),
             ("bullmq", "e2e_p50_ms", "submit → result")]
    rows = [(f"{name}, {what}", found[name][figure], name.startswith("errand/"))
            for name, figure, what in waits if figure in found.get(name, {})]
    if rows:
        drawn["latency.svg"] = charts.bars("An idle worker in another process", "ms, less is better",
                                           [(label.replace(", submit →", " →"), value, ours)
                                            for label, value, ours in rows])
    return drawn
