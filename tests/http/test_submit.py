import json
import threading
import unittest

from errand_program import UNKNOWN_ID
from http_server import HttpTest

NDJSON = {"Content-Type": "application/x-ndjson"}


class Submit(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def test_the_answer_says_where_the_task_is(self):
        answer = self.ask("POST", "/api/tasks", {"type": "email.send"}, expect=201)
        task = answer.json["taskId"]
        self.assertEqual(answer.headers["Location"], f"/api/tasks/{task}")
        self.assertEqual(
            answer.json,
            {"taskId": task, "type": "email.send", "queue": "default", "status": "pending"},
        )
        self.assertEqual(self.get(answer.headers["Location"])["payload"], "{}")

    def test_every_member_is_kept(self):
        task = self.submit_task(
            "email.send",
            {"to": "a@b.c"},
            queue="mail",
            delay="1h",
            priority=-5,
            maxRetries=7,
            retryDelay=2,
            retryMultiplier=1.5,
            retryMaxDelay="1m",
            retryJitter=0.1,
            headers={"tenant": "7"},
            taskId=UNKNOWN_ID,
        )
        self.assertEqual(task, UNKNOWN_ID)
        record = self.get(f"/api/tasks/{task}")
        self.assertEqual(record["queue"], "mail")
        self.assertEqual(record["priority"], -5)
        self.assertEqual(record["maxRetries"], 7)
        self.assertEqual(record["headers"], {"tenant": "7"})
        self.assertGreater(record["availableAt"], record["submittedAt"])

    def test_a_moment_in_place_of_a_delay(self):
        task = self.submit_task(at="2035-01-01T00:00:00+01:00")
        self.assertTrue(
            self.get(f"/api/tasks/{task}")["availableAt"].startswith("2034-12-31T23:00:00")
        )
        self.submit_task(at="2099-01-01T00:00:00Z", expect=422)
        past = self.submit_task(at="1999-01-01T00:00:00Z")
        record = self.get(f"/api/tasks/{past}")
        self.assertEqual(record["availableAt"], record["submittedAt"])

    def test_a_bad_moment_harms_nobody_else(self):
        """Requests at the same time share a transaction; one that is refused must not spoil it."""
        statuses = []

        def send(moment):
            task = {"type": "t", "at": moment}
            statuses.append(self.ask("POST", "/api/tasks", task).status)

        moments = ["2099-01-01T00:00:00Z", "2035-01-01T00:00:00Z"] * 20
        threads = [threading.Thread(target=send, args=(moment,)) for moment in moments]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(statuses), [201] * 20 + [422] * 20)

    def test_the_payload_is_kept_as_it_was_written(self):
        for payload in (
            '{"n":12345678901234567890,"f":1.0,"e":1e3}',
            '[ 1,\t"\\u00e9\\"}" ]',
            '"text"',
            "null",
            "-0.10",
        ):
            body = '{"pay\\u006coad" : %s , "type":"t"}' % payload
            task = self.ask(
                "POST", "/api/tasks", body, {"Content-Type": "application/json"}, expect=201
            ).json["taskId"]
            self.assertEqual(self.get(f"/api/tasks/{task}")["payload"], payload)

    def test_the_same_key_stores_one_task(self):
        key = {"Idempotency-Key": "order 17"}
        first = self.post("/api/tasks", {"type": "t", "payload": 1}, 201, headers=key)
        again = self.post("/api/tasks", {"type": "t", "payload": 1}, 200, headers=key)
        self.assertEqual(first, again)
        self.assertEqual(self.get("/api/tasks")["total"], 1)
        other = self.post(
            "/api/tasks", {"type": "t", "payload": 1}, 201, headers={"Idempotency-Key": "order 18"}
        )
        self.assertNotEqual(first["taskId"], other["taskId"])

    def test_a_key_used_for_another_task_is_refused(self):
        key = {"Idempotency-Key": "order 17"}
        self.post("/api/tasks", {"type": "t", "payload": 1}, 201, headers=key)
        for task in ({"type": "t", "payload": 2}, {"type": "u", "payload": 1}):
            problem = self.post("/api/tasks", task, 422, headers=key)
            self.assertEqual(problem["type"], "urn:errand:idempotency-key-reused")

    def test_of_many_at_once_with_one_key_one_is_stored(self):
        """Nobody is told that a task is stored which is not."""
        answers = {}

        def send(payload):
            task = {"type": "t", "payload": payload}
            headers = {"Idempotency-Key": "one"}
            answers[payload] = self.ask("POST", "/api/tasks", task, headers).status

        threads = [threading.Thread(target=send, args=(payload,)) for payload in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers.values()), [201] + [422] * 29)
        (task,) = self.get("/api/tasks?documents=true")["items"]
        self.assertEqual(answers[int(task["payload"])], 201)

    def test_an_id_of_the_clients_own_works_the_same(self):
        task = {"type": "t", "taskId": UNKNOWN_ID}
        self.post("/api/tasks", task, 201)
        self.post("/api/tasks", task, 200)
        self.post("/api/tasks", {**task, "payload": 1}, 422)
        self.post("/api/tasks", task, 422, headers={"Idempotency-Key": "k"})

    def test_bad_keys(self):
        for key in ("x" * 201, "caf\u00e9", ""):
            self.post(
                "/api/tasks", {"type": "t"}, 400, headers={"Idempotency-Key": key.encode("latin-1")}
            )

    def test_bad_members_are_pointed_at(self):
        for task, pointer in (
            ({}, "/type"),
            ({"type": 5}, "/type"),
            ({"type": ""}, "/type"),
            ({"type": "t", "queue": "q" * 191}, "/queue"),
            ({"type": "t", "queue": None}, "/queue"),
            ({"type": "t", "priority": 40000}, "/priority"),
            ({"type": "t", "priority": 1.5}, "/priority"),
            ({"type": "t", "priority": "1"}, "/priority"),
            ({"type": "t", "maxRetries": -1}, "/maxRetries"),
            ({"type": "t", "delay": "soon"}, "/delay"),
            ({"type": "t", "delay": -1}, "/delay"),
            ({"type": "t", "delay": True}, "/delay"),
            ({"type": "t", "at": "tomorrow"}, "/at"),
            ({"type": "t", "at": "2026-01-01T00:00:00Z", "delay": 1}, "/at"),
            ({"type": "t", "headers": []}, "/headers"),
            ({"type": "t", "headers": {"a": 1}}, "/headers/a"),
            ({"type": "t", "taskId": "17"}, "/taskId"),
            ({"type": "t", "retryMultiplier": "x"}, "/retryMultiplier"),
            ({"type": "t", "colour": "red"}, "/colour"),
            ([], ""),
        ):
            problem = self.post("/api/tasks", task, 422)
            self.assertEqual(problem.get("pointer", ""), pointer, task)
            self.assertGreater(len(problem["detail"]), 10)
        self.assertEqual(self.get("/api/tasks")["total"], 0)

    def test_what_the_engine_would_refuse_is_refused(self):
        for task in (
            {"type": ""},
            {"type": "x" * 191},
            {"type": "t", "queue": "a\nb"},
            {"type": "t", "delay": "20000d"},
            {"type": "t", "retryJitter": 2},
            {"type": "t", "retryMultiplier": 0.5},
            {"type": "t", "headers": {str(i): "" for i in range(65)}},
        ):
            self.post("/api/tasks", task, 422)

    def test_what_is_not_json_is_refused(self):
        for body in ("", "{", '{"type":}', "\x00", b"\xff\xfe", "[" * 1000, '{"type":"t"} x'):
            self.ask("POST", "/api/tasks", body, {"Content-Type": "application/json"}, expect=400)

    def test_json_that_is_too_much_is_told_from_what_is_not_json(self):
        levels = "[" * 65 + "]" * 65
        for payload, detail in (
            ("1e400", "number out of range at byte 22: a double cannot hold 1e400"),
            ("[7, -1e400]", "number out of range at byte 26: a double cannot hold -1e400"),
            (levels, "nested deeper than 65 levels at byte 86"),
        ):
            body = '{"type":"t","payload":' + payload + "}"
            headers = {"Content-Type": "application/json"}
            problem = self.ask("POST", "/api/tasks", body, headers, expect=400).json
            self.assertEqual(problem["detail"], detail)
            headers = {"Content-Type": "application/x-ndjson"}
            lines = '{"type":"t"}\n' + body
            problem = self.ask("POST", "/api/tasks", lines, headers, expect=400).json
            self.assertEqual((problem["detail"], problem["line"]), (detail, 2))
        self.assertEqual(self.get("/api/tasks")["total"], 0)

    def test_a_member_twice_is_refused(self):
        body = '{"type":"x","payload":1,"t\\u0079pe":"y"}'
        problem = self.ask(
            "POST", "/api/tasks", body, {"Content-Type": "application/json"}, expect=400
        ).json
        self.assertEqual(problem["pointer"], "/type")

    def test_compressed_bodies_are_refused(self):
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        self.ask("POST", "/api/tasks", '{"type":"t"}', headers, expect=415)
        headers["Content-Encoding"] = "identity"
        self.ask("POST", "/api/tasks", '{"type":"t"}', headers, expect=201)

    def test_other_media_types_are_refused(self):
        for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            answer = self.ask(
                "POST", "/api/tasks", '{"type":"t"}', {"Content-Type": media}, expect=415
            )
            self.assertIn("application/json", answer.headers["Accept-Post"])
        self.ask(
            "POST",
            "/api/tasks",
            '{"type":"t"}',
            {"Content-Type": "Application/JSON; charset=utf-8"},
            expect=201,
        )

    def test_many(self):
        lines = "\n".join(json.dumps({"type": "t", "payload": i}) for i in range(2500))
        answer = self.ask("POST", "/api/tasks", lines + "\n\n", NDJSON, expect=201).json
        self.assertEqual(answer["submitted"], 2500)
        self.assertEqual(len(set(answer["taskIds"])), 2500)
        self.assertEqual(self.get(f"/api/tasks/{answer['taskIds'][7]}")["payload"], "7")

    def test_many_with_a_key_are_stored_once(self):
        lines = '{"type":"t"}\n{"type":"t"}\n'
        headers = {**NDJSON, "Idempotency-Key": "batch 1"}
        first = self.ask("POST", "/api/tasks", lines, headers, expect=201).json
        again = self.ask("POST", "/api/tasks", lines, headers, expect=200).json
        self.assertEqual((first["submitted"], again["submitted"]), (2, 0))
        self.assertEqual(first["taskIds"], again["taskIds"])
        self.assertEqual(self.get("/api/tasks")["total"], 2)
        metrics = self.ask("GET", "/metrics").body.decode()
        self.assertIn('errand_tasks_submitted_total{queue="default",type="t"} 2', metrics)

    def test_many_with_a_key_used_for_others_are_refused_and_none_is_stored(self):
        headers = {**NDJSON, "Idempotency-Key": "batch 1"}
        self.ask("POST", "/api/tasks", '{"type":"t","payload":1}\n', headers, expect=201)
        lines = '{"type":"t","payload":1}\n{"type":"new"}\n'
        longer = self.ask("POST", "/api/tasks", lines, headers, expect=201).json
        self.assertEqual((longer["submitted"], len(longer["taskIds"])), (1, 2))
        lines = '{"type":"t","payload":1}\n{"type":"t","payload":2}\n{"type":"third"}\n'
        problem = self.ask("POST", "/api/tasks", lines, headers, expect=422).json
        self.assertEqual(problem["type"], "urn:errand:idempotency-key-reused")
        self.assertEqual(problem["line"], 2)
        self.assertEqual(self.get("/api/tasks")["total"], 2)

    def test_of_many_the_bad_line_is_named_and_nothing_is_stored(self):
        for bad, status in (("{", 400), ('{"type":1}', 422), ("[]", 422)):
            lines = '{"type":"t"}\n\n' + bad + '\n{"type":"t"}'
            problem = self.ask("POST", "/api/tasks", lines, NDJSON, expect=status).json
            self.assertEqual(problem["line"], 3)
        self.ask("POST", "/api/tasks", "\n\n", NDJSON, expect=422)
        self.ask("POST", "/api/tasks", '{"type":"t"}\n' * 10001, NDJSON, expect=413)
        self.assertEqual(self.get("/api/tasks")["total"], 0)

    def test_large_payloads(self):
        task = self.submit_task(payload="x" * 3_000_000)
        self.assertEqual(len(self.get(f"/api/tasks/{task}")["payload"]), 3_000_002)


if __name__ == "__main__":
    unittest.main()
