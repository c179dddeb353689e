import unittest

from failed_messages import FailedMessages
from http_server import HttpTest


class OnSqlite(FailedMessages, HttpTest):
    def transport_dsn(self, queue):
        return f"sqlite:{self.directory}/messages.db?queue_name={queue}"


class WithoutConfiguration(HttpTest):
    def test_no_failure_transport_is_known(self):
        self.start_server()
        self.assertEqual(self.get("/api/failed/transports"), {"items": []})
        problem = self.ask("GET", "/api/failed?kind=message", expect=404).json
        self.assertIn("--config", problem["detail"])


if __name__ == "__main__":
    unittest.main()
