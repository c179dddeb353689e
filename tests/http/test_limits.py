import json
import socket
import time
import unittest

from built_program import DEADLINE
from http_server import Events, HttpTest


class Limits(HttpTest):
    def test_a_body_that_is_too_large_is_refused_before_it_is_sent(self):
        self.start_server("--max-body", "1")
        announced = self.raw(
            b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1048577\r\n\r\n",
            until_closed=False,
        )
        self.assertTrue(announced.startswith(b"HTTP/1.1 413 "), announced)
        chunk = b"%x\r\n%s\r\n" % (65536, b"x" * 65536)
        chunked = self.raw(
            b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 17,
            until_closed=False,
        )
        self.assertTrue(chunked.startswith(b"HTTP/1.1 413 "), chunked)
        self.submit_task(payload="x" * 1_000_000)

    def test_a_header_that_is_too_large_is_refused(self):
        self.start_server()
        request = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000 + b"\r\n\r\n"
        self.assertTrue(self.raw(request).startswith(b"HTTP/1.1 431 "))
        address = b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.assertIn(self.raw(address)[9:12], (b"400", b"431"))

    def test_too_many_connections_are_turned_away(self):
        self.start_server("--max-connections", "3")
        kept = [Events(self) for _ in range(3)]
        answer = self.ask("GET", "/healthz", expect=503)
        self.assertEqual(answer.headers["Retry-After"], "5")
        kept[0].connection.close()
        kept[0].response.close()

        def served():
            try:
                return self.ask("GET", "/healthz").status == 200
            except OSError:
                return False

        self.wait_until(served, "nobody is served any more")

    def test_slow_clients_are_cut_off_and_others_served_meanwhile(self):
        self.start_server()
        slow = []
        for _ in range(200):
            plain = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)
            self.addCleanup(plain.close)
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
            slow.append(plain)
        slow[0].sendall(b"host\r\nX-Slow: ")
        begin = time.monotonic()
        while time.monotonic() - begin < 2:
            asked = time.monotonic()
            self.ask("GET", "/api/tasks", expect=200)
            self.assertLess(time.monotonic() - asked, 2)
            try:
                slow[0].sendall(b"x")  # a byte now and then does not help
            except OSError:
                break
        for plain in slow:
            try:
                self.assertEqual(plain.recv(4096), b"")
            except ConnectionResetError:
                pass
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_client_that_does_not_read_is_not_waited_for(self):
        """More comes for it than all buffers on the way hold."""
        self.start_server()
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", self.port))
        self.addCleanup(deaf.close)
        deaf.sendall(b"GET /api/events?topics=tasks HTTP/1.1\r\nHost: localhost\r\n\r\n")
        hearing = Events(self, "?topics=tasks")
        self.wait_until(lambda: self.streams() == 2, "nobody listens")
        line = json.dumps({"type": "t", "headers": {"ballast": "x" * 30_000}})
        headers = {"Content-Type": "application/x-ndjson"}
        received = 0
        while received < 16_000_000:
            self.ask("POST", "/api/tasks", f"{line}\n" * 100, headers, expect=201)
            data = hearing.wait_for(lambda name, data: name == "tasks")
            received += 30_000 * len(data["items"])
        self.assertEqual(self.streams(), 2)

    def streams(self):
        for line in self.ask("GET", "/metrics").body.decode().splitlines():
            if line.startswith("errand_http_event_streams "):
                return int(float(line.split()[-1]))
        return 0

    def long_polls(self):
        for line in self.ask("GET", "/metrics").body.decode().splitlines():
            if line.startswith("errand_http_long_polls "):
                return int(float(line.split()[-1]))
        return 0

    def test_clients_that_left_are_not_waited_for(self):
        self.start_server()
        task = self.submit_task()
        for path, count in (
            (f"/api/tasks/{task}/result?wait=60s", self.long_polls),
            ("/api/events?topics=tasks", self.streams),
        ):
            plain = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)
            plain.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            self.wait_until(lambda: count() == 1, "nobody waits")
            plain.close()
            left = time.monotonic()
            self.wait_until(lambda: count() == 0, "somebody is waited for")
            self.assertLess(time.monotonic() - left, 10)

    def test_head_of_the_events_ends(self):
        self.start_server()
        received = self.raw(b"HEAD /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(received.startswith(b"HTTP/1.1 200 OK\r\n"))
        self.assertTrue(received.endswith(b"\r\n\r\n"))
        self.assertIn(b"text/event-stream", received)


if __name__ == "__main__":
    unittest.main()
