import re
import socket
import unittest

from errand_program import UNKNOWN_ID
from http_server import READ_TOKEN, TOKEN, HttpTest
from openapi_check import DOCUMENT


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


class Tokens(HttpTest):
    def setUp(self):
        super().setUp()
        tokens = self.directory / "tokens"
        tokens.write_text(f"# who may what\n\noperator {TOKEN}\nreader {READ_TOKEN}\n")
        tokens.chmod(0o600)
        self.start_server("--token-file", "tokens")

    def operations(self):
        for pattern, methods in DOCUMENT["paths"].items():
            path = re.sub(r"\{\w+\}", UNKNOWN_ID, pattern.replace("{queue}", "mail"))
            for method, operation in methods.items():
                yield method.upper(), path, operation["x-errand-role"]

    def test_every_route_needs_the_role_it_is_documented_with(self):
        for method, path, role in self.operations():
            if path == "/api/events":
                method = "HEAD"  # a stream has no end
            without = self.ask(method, path).status
            read_only = self.ask(method, path, headers=bearer(READ_TOKEN)).status
            full = self.ask(method, path, headers=bearer(TOKEN)).status
            wanted = {"anyone": (False, False), "reader": (True, False), "operator": (True, True)}
            self.assertEqual((without == 401, read_only == 403), wanted[role], f"{method} {path}")
            self.assertNotIn(full, (401, 403), f"{method} {path}")

    def test_a_wrong_token_is_refused_everywhere(self):
        for header in (
            "Bearer " + TOKEN[:-1],
            "Bearer " + TOKEN + "x",
            "Bearer ",
            "Bearer",
            "Basic dXNlcjpwdw==",
            TOKEN,
        ):
            for path in ("/api/stats", "/api/session", "/metrics", "/healthz"):
                answer = self.ask("GET", path, headers={"Authorization": header})
                self.assertEqual(answer.status, 401, header)
                self.assertIn("Bearer", answer.headers["WWW-Authenticate"])
                self.assertNotIn(TOKEN, answer.body.decode())

    def test_tokens_are_not_taken_from_addresses(self):
        self.ask("GET", f"/api/stats?token={TOKEN}", expect=401)
        self.ask("GET", f"/api/stats?access_token={TOKEN}", expect=401)

    def test_the_session_tells_the_role(self):
        stranger = self.get("/api/session")
        self.assertEqual((stranger["role"], stranger["tokenRequired"]), ("none", True))
        self.assertEqual(set(stranger), {"role", "tokenRequired", "serverTime"})
        self.assertEqual(self.get("/api/session", headers=bearer(READ_TOKEN))["role"], "reader")
        self.assertEqual(self.get("/api/session", headers=bearer(TOKEN))["role"], "operator")

    def test_the_scheme_may_be_written_in_small_letters(self):
        self.ask("GET", "/api/stats", headers={"Authorization": f"bearer {TOKEN}"}, expect=200)

    def test_any_host_is_served(self):
        self.ask("GET", "/healthz", headers={"Host": "tasks.example.com"}, expect=200)

    def test_a_refused_body_is_not_read(self):
        # 1 GB is announced; the answer comes before any of it.
        answer = self.raw(
            b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n",
            until_closed=False,
        )
        self.assertTrue(answer.startswith(b"HTTP/1.1 401 "), answer)

    def test_tokens_never_reach_the_log(self):
        self.stop(self.server)
        self.start_server("--token-file", "tokens", "--log-level", "debug")
        self.ask("GET", "/api/stats", headers=bearer(TOKEN), expect=200)
        self.ask("GET", "/api/stats", headers=bearer("not" + TOKEN), expect=401)
        _, _, log = self.stop(self.server)
        self.assertIn("/api/stats", log)
        self.assertNotIn(TOKEN, log)


class Start(HttpTest):
    def refused(self, *options, status=2, **environment):
        ended = self.errand(
            "serve", *options, expect=status, env={**self.environment, **environment}
        )
        return ended.stderr

    def test_beyond_loopback_a_token_is_needed(self):
        for listen in ("0.0.0.0:0", "[::]:0", "10.1.2.3:0"):
            error = self.refused("--listen", listen)
            self.assertIn("--token-file", error)

    def test_tokens_come_from_the_environment(self):
        self.environment["ERRAND_TOKEN"] = TOKEN
        self.environment["ERRAND_READ_TOKEN"] = READ_TOKEN
        self.start_server("--worker", "--exec", "spy=env | grep -c TOKEN || true")
        self.ask("GET", "/api/stats", expect=401)
        self.ask("GET", "/api/stats", headers=bearer(READ_TOKEN), expect=200)
        # Commands do not inherit them.
        task = self.post("/api/tasks", {"type": "spy"}, 201, headers=bearer(TOKEN))["taskId"]
        outcome = self.get(f"/api/tasks/{task}/result?wait=30s", headers=bearer(TOKEN))
        self.assertEqual(outcome["result"], "0")

    def test_another_address_is_served_with_a_token_and_warned_about(self):
        address = first_other_address()
        self.environment["ERRAND_TOKEN"] = TOKEN
        server = self.start("serve", "--listen", "0.0.0.0:0")
        self.assertIn("unencrypted", server.stderr.readline())
        line = server.stderr.readline()
        self.port = int(line.split("0.0.0.0:")[1].split(";")[0])
        for token, status in ((None, b"401"), (TOKEN, b"200")):
            with socket.create_connection((address, self.port), timeout=60) as plain:
                authorization = f"Authorization: Bearer {token}\r\n" if token else ""
                plain.sendall(
                    f"GET /api/stats HTTP/1.1\r\nHost: {address}\r\n{authorization}\r\n".encode()
                )
                self.assertEqual(plain.recv(12)[9:], status)

    def test_bad_tokens_are_not_shown(self):
        error = self.refused(ERRAND_TOKEN="short-secret")
        self.assertIn("at least 16 characters", error)
        self.assertNotIn("short-secret", error)
        self.assertIn("ERRAND_READ_TOKEN", self.refused(ERRAND_READ_TOKEN="with spaces in the token"))

    def test_bad_token_files(self):
        self.assertIn("cannot read", self.refused("--token-file", "nowhere"))
        tokens = self.directory / "tokens"
        for text, complaint in (
            ("", "no token"),
            (f"admin {TOKEN}\n", "line 1"),
            (f"operator {TOKEN}\n{TOKEN}\n", "line 2"),
            ("operator short\n", "at least 16"),
        ):
            tokens.write_text(text)
            tokens.chmod(0o600)
            error = self.refused("--token-file", "tokens")
            self.assertIn(complaint, error)
            self.assertNotIn(TOKEN, error)
        tokens.write_text(f"operator {TOKEN}\n")
        tokens.chmod(0o644)
        self.assertIn("chmod 600", self.refused("--token-file", "tokens"))

    def test_bad_addresses(self):
        for listen in ("", "nowhere", "127.0.0.1", "127.0.0.1:99999", "::1:80", "300.1.1.1:80"):
            self.assertIn("--listen takes", self.refused("--listen", listen))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            error = self.refused("--listen", f"127.0.0.1:{taken.getsockname()[1]}")
            self.assertIn("cannot listen", error)


def first_other_address():
    """An address of this machine that is not loopback; the route of a packet nobody sends."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"


class CrossSite(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def test_pages_of_other_sites_change_nothing(self):
        own = f"http://127.0.0.1:{self.port}"
        for headers in (
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "cross-site", "Origin": own},
            {"Origin": "https://evil.example"},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": "null"},
        ):
            problem = self.post("/api/tasks", {"type": "t"}, 403, headers=headers)
            self.assertEqual(problem["type"], "urn:errand:cross-site")
            self.ask("DELETE", f"/api/tasks/{UNKNOWN_ID}", headers=headers, expect=403)
        for headers in (
            {"Sec-Fetch-Site": "same-origin"},
            {"Sec-Fetch-Site": "none"},
            {"Origin": own},
            {},
        ):
            self.post("/api/tasks", {"type": "t"}, 201, headers=headers)

    def test_a_name_that_others_let_point_here_is_refused(self):
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example", ""):
            self.ask("GET", "/api/tasks", headers={"Host": host}, expect=421)
        for host in ("localhost", f"LOCALHOST:{self.port}", "[::1]:8080", "127.0.0.1"):
            self.ask("GET", "/api/tasks", headers={"Host": host}, expect=200)

    def test_no_other_origin_may_read(self):
        answer = self.ask("GET", "/api/tasks", headers={"Origin": "https://evil.example"})
        self.assertNotIn("Access-Control-Allow-Origin", answer.headers)
        self.assertEqual(self.ask("OPTIONS", "/api/tasks").status, 405)


if __name__ == "__main__":
    unittest.main()
