import collections
import json
import os
import random
import sqlite3
import time
import unittest

from harness import ChaosCase

MESSAGES = 6000
KILLS = 15


class KilledConsumers(ChaosCase):
    """Messages without a record; a third of them fails twice more and ends as a dead letter. Three
    workers, one of them killed with -9 every second."""

    def setUp(self):
        super().setUp()
        self.messages = os.path.join(self.directory, "messages.db")
        dsn = f"sqlite:{self.messages}?redeliver_timeout=2&queue_name="
        configuration = {
            "transports": {
                "async": {"dsn": dsn + "async",
                          "retry_strategy": {"max_retries": 2, "delay": 0, "multiplier": 1}},
                "failed": {"dsn": dsn + "failed"},
            },
            "failure_transport": "failed",
        }
        file = os.path.join(self.directory, "errand.json")
        with open(file, "w") as out:
            json.dump(configuration, out)
        self.environment["ERRAND_CONFIG"] = file
        self.errand("transport", "setup")

    def send_all(self):
        """As another program would, with what triggers note of their fate."""
        database = sqlite3.connect(self.messages)
        database.execute("CREATE TABLE ledger (what TEXT, queue TEXT, body TEXT)")
        for what, row in (("INSERT", "new"), ("DELETE", "old")):
            database.execute(
                f"CREATE TRIGGER note_{what} AFTER {what} ON messenger_messages BEGIN "
                f"INSERT INTO ledger VALUES ('{what}', {row}.queue_name, {row}.body); END")
        for n in range(MESSAGES):
            fails = n % 3 == 0
            headers = {"type": "errand.fail" if fails else "errand.sleep"}
            body = {"message": "no", "n": n} if fails else {"ms": 12, "n": n}
            database.execute(
                "INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at)"
                " VALUES (?, ?, 'async', datetime('now'), datetime('now'))",
                (json.dumps(body), json.dumps(headers)))
        database.commit()
        database.close()

    def rows(self, sql):
        database = sqlite3.connect(self.messages, timeout=60)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def test_no_message_is_lost_or_doubled(self):
        self.send_all()
        chance = random.Random(20251201)
        options = ("--transport", "async", "--concurrency", "2", "--log-level", "warning")
        alive = [self.start_worker(*options) for _ in range(3)]
        held = ("SELECT count(*) FROM messenger_messages "
                "WHERE queue_name = 'async' AND delivered_at IS NOT NULL")
        hits = 0
        for _ in range(KILLS):
            time.sleep(1)  # the rhythm of the killing, not a wait for anything
            victim = alive.pop(chance.randrange(len(alive)))
            victim.kill()
            victim.wait()
            hits += self.rows(held)[0][0] > 0
            alive.append(self.start_worker(*options))
        waiting = "SELECT count(*) FROM messenger_messages WHERE queue_name = 'async'"
        self.wait_until(lambda: self.rows(waiting) == [(0,)], "all messages end", 120)

        self.assertGreater(hits, KILLS / 3, "the kills came when nothing was in hand")
        dead = collections.Counter(
            json.loads(body)["n"] for (body,) in self.rows("SELECT body FROM messenger_messages"))
        self.assertEqual(dead, collections.Counter(range(0, MESSAGES, 3)))
        noted = collections.Counter(
            (what, queue, json.loads(body)["n"])
            for what, queue, body in self.rows("SELECT what, queue, body FROM ledger"))
        for n in range(MESSAGES):
            attempts = 3 if n % 3 == 0 else 1
            self.assertEqual(noted["INSERT", "async", n], attempts, n)
            self.assertEqual(noted["DELETE", "async", n], attempts, n)


if __name__ == "__main__":
    unittest.main()
