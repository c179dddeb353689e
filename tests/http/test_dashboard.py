import json
import pathlib
import re
import unittest

from http_server import HttpTest

WEB = pathlib.Path(__file__).parents[2] / "web"
SERVED = {".html", ".css", ".js", ".svg", ".json", ".png", ".ico"}


class Dashboard(HttpTest):
    def setUp(self):
        super().setUp()
        self.start_server()

    def test_every_file_is_served_as_it_is(self):
        files = [path for path in WEB.rglob("*") if path.suffix in SERVED]
        self.assertIn(WEB / "index.html", files)
        for path in files:
            answer = self.ask("GET", f"/{path.relative_to(WEB)}")
            self.assertEqual((answer.status, answer.body), (200, path.read_bytes()), path)

    def test_paths_of_the_dashboards_own_give_the_page(self):
        page = (WEB / "index.html").read_bytes()
        for path in ("/", "/tasks", "/tasks/17?status=failed", "/failed", "/queues", "/workers",
                     "/submit"):
            answer = self.ask("GET", path, expect=200)
            self.assertEqual(answer.body, page)
            self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
        self.ask("GET", "/missing.js", expect=404)

    def test_other_addresses_give_the_page_and_404(self):
        page = (WEB / "index.html").read_bytes()
        for path in ("/healtz", "/tasks/1/2", "/tasks/", "/metric", "/failed/17"):
            answer = self.ask("GET", path, expect=404)
            self.assertEqual(answer.body, page)

    def test_the_server_knows_the_pages_of_the_router(self):
        routes = re.findall(r"\[/\^(.+)\$/, '", (WEB / "app.js").read_text(encoding="utf-8"))
        self.assertGreater(len(routes), 5)
        for route in routes:
            path = route.replace("\\/", "/").replace("([^/]+)", "17")
            self.ask("GET", path, expect=200)

    def test_browsers_need_not_fetch_it_twice(self):
        first = self.ask("GET", "/", expect=200)
        again = self.ask("GET", "/", headers={"If-None-Match": first.headers["ETag"]}, expect=304)
        self.assertEqual(again.body, b"")
        self.assertEqual(again.headers["ETag"], first.headers["ETag"])

    def test_pages_may_load_nothing_from_elsewhere(self):
        for path in ("/", "/api/stats", "/api/nothing"):
            headers = self.ask("GET", path).headers
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'self'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")

    def test_the_document_is_served(self):
        document = self.ask("GET", "/openapi.json", expect=200).json
        self.assertEqual(document["openapi"], "3.1.0")
        source = pathlib.Path(__file__).parents[2] / "src/http/openapi.json"
        self.assertEqual(document, json.loads(source.read_text(encoding="utf-8")))


if __name__ == "__main__":
    unittest.main()
