"""Runs the built `errand serve` for each test, and asks it through real HTTP."""

import http.client
import json
import re
import socket
import time

from built_program import DEADLINE, wait_for_text
from errand_program import ErrandTest
from openapi_check import check_answer

TOKEN = "operator-token-of-the-tests"
READ_TOKEN = "reader-token-of-the-tests"


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body
        self.content_type = headers.get("Content-Type", "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.body)


class HttpTest(ErrandTest):
    """`start_server()` is called by the tests, with the options they need."""

    server = None

    def start_server(self, *options):
        self.server = self.start("serve", "--listen", "127.0.0.1:0", *options)
        line = wait_for_text(self.server.stderr, "serves http")
        self.scheme, self.host, port = re.search(r"serves (https?)://(.+):(\d+)", line).groups()
        self.port = int(port)
        return self.server

    def connect(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        self.addCleanup(connection.close)
        return connection

    def ask(self, method, path, body=None, headers=None, expect=None, connection=None):
        """One request; the answer must be what the document says."""
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        own = connection is None
        connection = connection or http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=DEADLINE
        )
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
        finally:
            if own:
                connection.close()
        self.check(method, path, answer)
        if expect is not None:
            self.assertEqual(answer.status, expect, f"{method} {path}: {answer.body[:500]!r}")
        return answer

    def check(self, method, path, answer):
        is_json = answer.content_type in ("application/json", "application/problem+json")
        if not (path.startswith("/api/") or is_json) or method == "HEAD":
            return
        value = answer.json if is_json else None
        self.assertEqual(
            check_answer(method, path, answer.status, answer.content_type, value), [], answer.body
        )

    def get(self, path, expect=200, **options):
        return self.ask("GET", path, expect=expect, **options).json

    def post(self, path, body=None, expect=200, **options):
        return self.ask("POST", path, body, expect=expect, **options).json

    def submit_task(self, type="errand.echo", payload=None, expect=201, **members):
        task = {"type": type, "payload": {} if payload is None else payload, **members}
        return self.post("/api/tasks", task, expect=expect).get("taskId")

    def result(self, task, wait="30s"):
        return self.get(f"/api/tasks/{task}/result?wait={wait}")

    def raw(self, data, until_closed=True):
        """Sends bytes as they are and returns what comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as plain:
            plain.sendall(data)
            received = b""
            while True:
                part = plain.recv(65536)
                received += part
                if not part or (not until_closed and b"\r\n\r\n" in received):
                    return received


class Events:
    """A client of /api/events: reads the body as it comes."""

    def __init__(self, test, query="", headers=None):
        self.test = test
        self.connection = test.connect()
        self.connection.request("GET", "/api/events" + query, headers=headers or {})
        self.response = self.connection.getresponse()
        test.assertEqual(self.response.status, 200)
        test.assertEqual(self.response.headers["Content-Type"], "text/event-stream")

    def next(self):
        """(name, data) of the next event; comments are passed over."""
        name, data = None, None
        while True:
            line = self.response.fp.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
            elif line == "" and name:
                return name, data

    def wait_for(self, wanted):
        """The data of the first event for which wanted(name, data) holds."""
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            name, data = self.next()
            if wanted(name, data):
                return data
        self.test.fail("the event did not come")
