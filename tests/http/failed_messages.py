"""Messages in failure transports, through HTTP: the same on every storage."""

import json


class FailedMessages:
    """Mixed into an HttpTest that has `transport_dsn(queue)`."""

    def serve_messages(self):
        configuration = {
            "transports": {
                name: {
                    "dsn": self.transport_dsn(name),
                    "retry_strategy": {"max_retries": 0},
                }
                for name in ("async", "other", "failed")
            },
            "failure_transport": "failed",
        }
        (self.directory / "errand.json").write_text(json.dumps(configuration))
        self.errand("transport", "setup")
        self.start_server("--config", "errand.json")

    def fail_messages(self, *messages):
        for message in messages:
            body = json.dumps({"message": message})
            self.errand("send", "App\\Message\\Mail", body, "--transport", "async")
        command = "App\\Message\\Mail=cat >&2; exit 1"
        self.drain("--transport", "async", "--exec", command)

    def messages(self, query=""):
        return self.get("/api/failed?kind=message" + query)["items"]

    def waiting_in(self, transport):
        (stats,) = self.json("transport", "stats", transport)
        return stats["ready"]

    def test_list_and_show(self):
        self.serve_messages()
        self.assertEqual(self.get("/api/failed/transports"), {"items": ["failed"]})
        self.assertEqual(self.messages(), [])
        self.fail_messages("order 1", "order 2", "order 3")
        page = self.get("/api/failed?kind=message&transport=failed&page_size=2")
        self.assertEqual((page["total"], page["total_pages"]), (3, 2))
        newest = page["items"][0]
        self.assertEqual((newest["kind"], newest["transport"]), ("message", "async"))
        self.assertEqual(newest["type"], "App\\Message\\Mail")
        shown = self.get(f"/api/failed/{newest['id']}?kind=message")
        self.assertEqual(json.loads(shown["message"]["body"]), {"message": "order 3"})
        self.assertEqual(shown["error"]["class"], newest["errorClass"])
        (oldest,) = self.messages("&page_size=2&page=2")
        self.assertNotEqual(oldest["id"], newest["id"])
        self.assertEqual(len(self.messages(f"&class={newest['errorClass']}")), 3)
        self.assertEqual(self.messages("&type=other"), [])
        (group,) = self.get("/api/failed/groups?kind=message")["items"]
        self.assertEqual((group["count"], group["id"]), (3, newest["id"]))

    def test_retry_and_remove_one(self):
        self.serve_messages()
        self.fail_messages("first", "second", "third")
        first, second, third = (item["id"] for item in reversed(self.messages()))
        answer = self.post(f"/api/failed/{first}/retry?kind=message")
        self.assertEqual(answer, {"id": first, "to": "async"})
        answer = self.post(f"/api/failed/{second}/retry?kind=message&to=other")
        self.assertEqual(answer["to"], "other")
        self.ask("DELETE", f"/api/failed/{third}?kind=message", expect=204)
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/retry")):
            problem = self.ask(method, f"/api/failed/{first}{path}?kind=message", expect=404).json
            self.assertEqual(problem["type"], "urn:errand:message-not-found")
        self.assertEqual([self.waiting_in(name) for name in ("async", "other", "failed")], [1, 1, 0])

    def test_retry_and_remove_many(self):
        self.serve_messages()
        self.fail_messages("a", "b", "c", "d")
        ids = [item["id"] for item in self.messages()]
        body = {"kind": "message", "ids": [ids[0], "123456789-0"]}
        answer = self.post("/api/failed/retry", body)
        self.assertEqual((answer["retried"], answer["to"]), (1, {"async": 1}))
        self.assertEqual(answer["skipped"], [{"id": "123456789-0", "reason": "not found"}])
        body = {"kind": "message", "transport": "failed", "type": "other"}
        self.assertEqual(self.post("/api/failed/remove", body)["removed"], 0)
        body = {"kind": "message", "ids": [ids[1]]}
        self.assertEqual(self.post("/api/failed/remove", body)["removed"], 1)
        answer = self.post("/api/failed/retry", {"kind": "message", "all": True, "to": "other"})
        self.assertEqual((answer["retried"], answer["to"]), (2, {"other": 2}))
        self.assertEqual([self.waiting_in(name) for name in ("async", "other", "failed")], [1, 2, 0])

    def test_what_cannot_be_done_is_said(self):
        self.serve_messages()
        self.fail_messages("a")
        (message,) = self.messages()
        for path, status in (
            ("/api/failed?kind=letter", 400),
            ("/api/failed?kind=message&queue=mail", 400),
            ("/api/failed?kind=message&cursor=1.1", 400),
            ("/api/failed?kind=message&transport=async", 404),
            ("/api/failed?kind=message&transport=nowhere", 404),
        ):
            self.ask("GET", path, expect=status)
        # Only names: nobody chooses what this server connects to.
        for to in ("nowhere", "sqlite:elsewhere.db"):
            self.post(f"/api/failed/{message['id']}/retry?kind=message&to={to}", expect=404)
        self.post(f"/api/failed/{message['id']}/retry?kind=message&to=failed", expect=409)
        self.post(
            "/api/failed/remove", {"kind": "message", "all": True, "to": "async"}, expect=422
        )
        self.assertEqual(len(self.messages()), 1)
