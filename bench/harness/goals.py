"""What is to be reached: the lines of the table, and how each is read off the repetitions."""

import statistics
from dataclasses import dataclass

# Work, contestant, figure, beside whom, its figure, and the ratio to reach. Of several peers the
# best one counts. `at_most`: less is better.


@dataclass(frozen=True)
class Goal:
    work: str
    errand: str
    figure: str
    peers: tuple
    ratio: float
    peer_figure: str = ""
    at_most: bool = False

    def judge(self, runs):
        """By the medians; beside them the least and the greatest ratio within one repetition. None:
        not measured."""
        ours = _values(runs, self.errand, self.figure)
        theirs = {peer: _values(runs, peer, self.peer_figure or self.figure) for peer in self.peers}
        medians = {peer: statistics.median(values) for peer, values in theirs.items() if values}
        if not ours or not medians:
            return None
        best = (min if self.at_most else max)(medians, key=medians.get)
        ratios = [mine / other for mine, other in zip(ours, theirs[best])]
        ratio = statistics.median(ours) / medians[best]
        reached = ratio <= self.ratio if self.at_most else ratio >= self.ratio
        return Verdict(self, statistics.median(ours), best, medians[best], ratio, min(ratios),
                       max(ratios), reached)


def _values(runs, contestant, figure):
    """One for each repetition; none if it does not have this figure."""
    return [run[figure] for run in runs.get(contestant, []) if figure in run]


@dataclass(frozen=True)
class Verdict:
    goal: Goal
    ours: float
    peer: str
    theirs: float
    ratio: float
    least: float
    greatest: float
    reached: bool

    @property
    def text(self):
        narrowly = ", narrowly" if self.least < self.goal.ratio < self.greatest else ""
        return f"{'reached' if self.reached else 'MISSED'}{narrowly}"


PG, REDIS, SQLITE = "errand/postgres", "errand/redis", "errand/sqlite"
COMPACT = f"{REDIS}/compact"  # records that no other program reads, as none reads those of the peers


def _of_redis(name, errand):
    return [
        Goal(f"{name} drain", errand, "drain", ("bullmq",), 4),
        Goal(f"{name} drain", errand, "drain", ("sidekiq",), 4),
        Goal(f"{name} drain", errand, "drain", ("symfony/redis",), 8),
        Goal(f"{name} submit, 50 callers", errand, "submit_c50", ("bullmq",), 2),
        Goal(f"{name} submit, bulk", errand, "submit_bulk", ("bullmq",), 2),
        Goal(f"{name} submit → result", errand, "e2e_p50_ms", ("bullmq",), 0.4, at_most=True),
        # No goals that anybody set, but who reads the tables sees that others are there, too.
        Goal(f"{name} submit, one caller", errand, "submit_seq",
             ("bullmq", "symfony/redis", "celery", "sidekiq"), 1),
        Goal(f"{name} submit, bulk", errand, "submit_bulk", ("sidekiq",), 1),
    ]


GOALS = [
    Goal("PostgreSQL drain", PG, "drain", ("graphile-worker",), 2),
    Goal("PostgreSQL drain", PG, "drain", ("pg-boss",), 4),
    Goal("PostgreSQL drain", PG, "drain", ("symfony/postgres",), 50),
    Goal("PostgreSQL submit, 50 callers", PG, "submit_c50", ("graphile-worker", "pg-boss"), 10),
    Goal("PostgreSQL submit, one caller", PG, "submit_seq",
         ("graphile-worker", "pg-boss", "symfony/postgres"), 2),
    Goal("PostgreSQL submit, bulk", PG, "submit_bulk", ("graphile-worker", "pg-boss"), 2),
    Goal("PostgreSQL submit → result, their submit → start", PG, "e2e_p50_ms",
         ("graphile-worker",), 1, peer_figure="start_p50_ms", at_most=True),
    *_of_redis("Redis, compact records,", COMPACT),
    *_of_redis("Redis, shared records,", REDIS),
    Goal("messages without record, Redis, bulk", f"{REDIS}/messages", "send_bulk", ("sidekiq",), 1.5,
         peer_figure="submit_bulk"),
    Goal("messages without record, PostgreSQL drain", f"{PG}/messages", "messages_drain",
         ("symfony/postgres",), 20, peer_figure="drain"),
    Goal("messages without record, Redis drain", f"{REDIS}/messages", "messages_drain",
         ("symfony/redis",), 10, peer_figure="drain"),
    *(Goal(f"{name} {figure.replace('submit_', '')}, by the bare client", errand, figure,
           (errand,), 0.85, peer_figure=f"limit_{figure}")
      for name, errand in (("SQLite", SQLITE), ("PostgreSQL", PG),
                           ("Redis, compact records,", COMPACT), ("Redis, shared records,", REDIS))
      for figure in ("drain", "submit_bulk")),
]
