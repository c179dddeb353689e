import http.client
import socket
import ssl
import subprocess
import unittest

from built_program import DEADLINE
from http_server import HttpTest


class Tls(HttpTest):
    def setUp(self):
        super().setUp()
        self.certificate("server")

    def certificate(self, name):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=IP:127.0.0.1", "-keyout", f"{name}.key", "-out", f"{name}.crt"],
            cwd=self.directory, check=True, capture_output=True,
        )

    def test_requests_over_tls(self):
        self.start_server("--tls-cert", "server.crt", "--tls-key", "server.key", "--worker")
        self.assertEqual(self.scheme, "https")
        context = ssl.create_default_context(cafile=self.directory / "server.crt")
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=DEADLINE, context=context
        )
        self.addCleanup(connection.close)
        task = self.ask("POST", "/api/tasks", {"type": "errand.echo"}, connection=connection)
        task = task.json["taskId"]
        answer = self.ask("GET", f"/api/tasks/{task}/result?wait=30s", connection=connection)
        self.assertEqual(answer.json["status"], "completed")
        connection.request("GET", "/api/events")
        response = connection.getresponse()
        self.assertEqual(response.fp.readline(), b"event: stats\n")

    def test_answers_of_every_size(self):
        self.start_server("--tls-cert", "server.crt", "--tls-key", "server.key")
        context = ssl.create_default_context(cafile=self.directory / "server.crt")
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=DEADLINE, context=context
        )
        self.addCleanup(connection.close)
        for size in (1, 15_000, 16_000, 16_384, 17_000, 40_000, 100_000, 1 << 20, 7 << 20):
            task = {"type": "t", "payload": "x" * size}
            answer = self.ask("POST", "/api/tasks", task, connection=connection, expect=201)
            path = f"/api/tasks/{answer.json['taskId']}"
            shown = self.ask("GET", path, connection=connection, expect=200).json
            self.assertEqual(len(shown["payload"]), size + 2)
        for path in ("/openapi.json", "/", "/app.js", "/api/tasks", "/metrics", "/api/stats"):
            self.ask("GET", path, connection=connection, expect=200)

    def test_plain_and_outdated_clients_get_nothing(self):
        self.start_server("--tls-cert", "server.crt", "--tls-key", "server.key")
        plain = self.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertNotIn(b"200 OK", plain)
        context = ssl.create_default_context(cafile=self.directory / "server.crt")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as raw:
            with self.assertRaises(ssl.SSLError):
                context.wrap_socket(raw, server_hostname="127.0.0.1")

    def test_files_that_do_not_serve(self):
        self.certificate("other")
        for options, complaint in (
            (("--tls-cert", "server.crt"), "belong together"),
            (("--tls-cert", "nowhere", "--tls-key", "server.key"), "certificate nowhere"),
            (("--tls-cert", "server.crt", "--tls-key", "nowhere"), "key nowhere"),
            (("--tls-cert", "server.crt", "--tls-key", "other.key"), "other.key"),
        ):
            ended = self.errand("serve", "--listen", "127.0.0.1:0", *options, expect=2)
            self.assertIn(complaint, ended.stderr)


if __name__ == "__main__":
    unittest.main()
