import json
import unittest

from http_server import HttpTest


class Bytes(HttpTest):
    """What no HTTP library would send."""

    def setUp(self):
        super().setUp()
        self.start_server()

    def status_of(self, data):
        received = self.raw(data)
        if not received:
            return None
        self.assertTrue(received.startswith(b"HTTP/1.1 "), received)
        header, _, body = received.partition(b"\r\n\r\n")
        if b"problem+json" in header:
            json.loads(body)
        return int(received[9:12])

    def test_what_is_not_http(self):
        for data in (
            b"\x00\x01\x02\x03\r\n\r\n",
            b"HELLO\r\n\r\n",
            b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 32 + b"\r\n\r\n",
        ):
            self.assertEqual(self.status_of(data), 400, data)

    def test_one_host_is_needed(self):
        self.assertEqual(self.status_of(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"), 400)
        host = b"Host: localhost\r\n"
        two = b"GET /healthz HTTP/1.1\r\nConnection: close\r\n" + host + host + b"\r\n"
        self.assertEqual(self.status_of(two), 400)

    def test_absolute_addresses_and_asterisks(self):
        for target in (b"http://localhost/healthz", b"*", b"localhost:80"):
            request = (
                b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            self.assertEqual(self.status_of(request), 400)

    def test_a_chunked_body_is_read(self):
        body = b'{"type":"t"}'
        request = (
            b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
            % (len(body), body)
        )
        self.assertEqual(self.status_of(request), 201)

    def test_a_client_that_asks_before_it_sends_is_told_to_go_on(self):
        request = (
            b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 12\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        )
        received = self.raw(request + b'{"type":"t"}')
        self.assertTrue(received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 "), received)

    def test_requests_may_come_one_behind_the_other(self):
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        self.assertEqual(self.raw(one * 9 + last).count(b"HTTP/1.1 200 OK"), 10)

    def test_http_1_0_is_answered_and_closed(self):
        received = self.raw(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
        self.assertTrue(received.startswith(b"HTTP/1.1 200 OK"))


if __name__ == "__main__":
    unittest.main()
