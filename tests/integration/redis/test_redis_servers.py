"""Servers of several kinds: those that are refused, those that ask who comes, and one that is
started again."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "servers" / "redis"
ERRAND = os.environ["ERRAND_BIN"]
PATIENCE = 30.0
UNREACHABLE = 6


class RedisServers(unittest.TestCase):
    def start_server(self, *settings):
        directory = tempfile.mkdtemp(prefix="errand-rs-", dir="/tmp")
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.addCleanup(subprocess.run, [SCRIPT, "stop", directory], check=False)
        subprocess.run([SCRIPT, "start", directory, *settings], check=True)
        self.directory = directory
        self.socket = f"redis+unix://{directory}/redis.sock"
        self.tls = f"rediss://localhost:{self.read('tls-port')}"

    def read(self, name):
        return (pathlib.Path(self.directory) / name).read_text().strip()

    def cli(self, *words):
        done = subprocess.run(["redis-cli", "-s", f"{self.directory}/redis.sock", *words],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def errand(self, dsn, *words, **options):
        return subprocess.run([ERRAND, *words], env=dict(os.environ, ERRAND_DSN=dsn),
                              capture_output=True, text=True, timeout=60, **options)

    def assert_works(self, dsn):
        done = self.errand(dsn, "submit", "errand.echo", '{"n":1}')
        self.assertEqual(done.returncode, 0, done.stderr)
        task = done.stdout.strip()
        done = self.errand(dsn, "worker", "--drain")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.errand(dsn, "wait", task).stdout.strip(), '{"n":1}')

    def assert_refused(self, dsn, *words):
        done = self.errand(dsn, "submit", "errand.echo", "1")
        self.assertEqual(done.returncode, UNREACHABLE, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_a_cluster_is_refused(self):
        self.start_server("cluster-enabled", "yes")
        self.assert_refused(self.socket, "cluster", "cluster-enabled no")

    def test_a_server_that_may_lose_writes_is_refused_where_that_matters(self):
        self.start_server()
        self.assert_works(self.socket)
        self.assert_refused(self.socket + "?durable=1", "appendonly is no", "appendfsync is everysec")
        self.cli("CONFIG", "SET", "appendonly", "yes")
        self.assert_refused(self.socket + "?durable=1", "appendfsync is everysec")
        self.cli("CONFIG", "SET", "appendfsync", "always")
        self.assert_works(self.socket + "?durable=1")
        self.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        self.assert_refused(self.socket + "?durable=1", "maxmemory-policy is allkeys-lru")

    def test_work_in_hand_ends_although_the_memory_is_full(self):
        self.start_server()
        task = self.errand(self.socket, "submit", "errand.sleep", '{"ms":1500}').stdout.strip()
        worker = subprocess.Popen([ERRAND, "worker", "--limit", "1"],
                                  env=dict(os.environ, ERRAND_DSN=self.socket))
        self.addCleanup(worker.kill)
        end = time.monotonic() + PATIENCE
        while self.cli("GET", f"task:{task}:status") != "running":
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.cli("CONFIG", "SET", "maxmemory", "1")
        self.assertEqual(worker.wait(timeout=PATIENCE), 0)
        self.assertEqual(self.cli("GET", f"task:{task}:status"), "completed")
        self.assert_refused(self.socket, "OOM", "maxmemory")

    def test_a_user_without_the_right_to_publish_can_submit(self):
        self.start_server()
        self.cli("ACL", "SETUSER", "quiet", "on", ">secret", "~*", "+@all", "resetchannels")
        self.assert_works(self.socket.replace("redis+unix://", "redis+unix://quiet:secret@"))

    def test_the_doctor_says_what_may_be_lost(self):
        self.start_server("maxmemory-policy", "allkeys-lru")
        self.assert_works(self.socket)
        done = self.errand(self.socket, "doctor")
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in ("Redis 7", "appendonly is no", "allkeys-lru", "memory per task"):
            self.assertIn(word, done.stdout)

    def test_a_password_is_asked_for_and_never_shown(self):
        self.start_server("requirepass", "hidden-word")
        self.assert_works(self.socket.replace("://", "://:hidden-word@"))
        self.assert_refused(self.socket, "NOAUTH", "user and password")
        errors = self.assert_refused(self.socket.replace("://", "://:wrong-word@"), "WRONGPASS")
        self.assertNotIn("wrong-word", errors)

    def test_a_user_with_the_rights_of_the_documents_can_do_all(self):
        self.start_server()
        documents = pathlib.Path(__file__).resolve().parents[3] / "docs" / "operations.md"
        line = next(line for line in documents.read_text().splitlines()
                    if line.startswith("ACL SETUSER errand "))
        self.cli(*line.split())
        self.cli("ACL", "SETUSER", "default", "off")
        dsn = self.socket.replace("://", "://errand:password@")
        self.assert_works(dsn)
        for words in (["stats"], ["list"], ["clean"], ["doctor"], ["queue", "pause", "default"],
                      ["queue", "resume", "default"], ["failed", "list"]):
            done = self.errand(dsn, *words)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")

    def test_a_certificate_must_be_signed_by_somebody_trusted(self):
        self.start_server()
        self.assert_works(f"{self.tls}?ca={self.directory}/ca.crt")
        self.assert_refused(self.tls, "certificate verify failed", "ca=FILE")
        self.assert_refused(f"{self.tls}?ca={self.directory}/client.crt", "certificate verify failed")
        self.assert_refused(f"{self.tls}?ca={self.directory}/missing.crt", "missing.crt")

    def test_a_certificate_must_be_that_of_the_host(self):
        self.start_server()
        other = self.tls.replace("localhost", "127.0.0.1")
        self.assert_refused(f"{other}?ca={self.directory}/ca.crt", "certificate verify failed")

    def test_a_server_may_ask_for_our_certificate(self):
        self.start_server("tls-auth-clients", "yes")
        dsn = f"{self.tls}?ca={self.directory}/ca.crt"
        self.assert_works(f"{dsn}&cert={self.directory}/client.crt&key={self.directory}/client.key")
        self.assert_refused(dsn)

    def test_options_that_are_none_are_usage_errors(self):
        for dsn, word in (("redis://host/0?colour=red", "colour"),
                          ("redis://host/stream/group", "number of a database"),
                          ("redis://host?ca=x", "rediss"), ("rediss://host?cert=x", "key"),
                          ("redis://host?prefix=a*", "prefix")):
            done = self.errand(dsn, "stats")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr)

    def wait_for_listeners(self, count):
        end = time.monotonic() + PATIENCE
        while self.cli("PUBSUB", "NUMSUB", "errand:0:work").split()[-1] != str(count):
            self.assertLess(time.monotonic(), end, "nobody listens")
            time.sleep(0.02)

    def test_workers_listen_again_after_the_server_was_started_again(self):
        self.start_server("appendonly", "yes", "appendfsync", "always")
        environment = dict(os.environ, ERRAND_DSN=self.socket)
        worker = subprocess.Popen([ERRAND, "worker"], env=environment, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.wait_for_listeners(1)
        os.kill(int(self.read("pid")), 9)
        subprocess.run([SCRIPT, "restart", self.directory], check=True)
        self.wait_for_listeners(1)
        done = self.errand(self.socket, "submit", "errand.echo", "7", "--wait")
        self.assertEqual(done.stdout.split()[-1], "7", done.stderr)


if __name__ == "__main__":
    unittest.main()
