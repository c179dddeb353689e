"""The private servers, with the settings that bench/README.md explains."""

import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]

# Durable as a user would want it: an acknowledged commit is on the disk.
POSTGRES_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "4GB",
    "min_wal_size": "2GB",
    "checkpoint_timeout": "1h",
}
# What is acknowledged is on the disk within a second.
REDIS_SETTINGS = {"appendonly": "yes", "appendfsync": "everysec", "auto-aof-rewrite-percentage": "0"}

POSTGRES_DATABASES = ["errand", "graphile_worker", "pg_boss", "symfony"]
REDIS_DATABASES = {"errand": 0, "bullmq": 1, "symfony": 2, "celery": 3, "sidekiq": 4}


class Servers:
    """PostgreSQL and Redis, from __enter__ to __exit__."""

    def __init__(self, directory):
        # A socket's path has little room.
        self.postgres = Path(f"{directory}-postgres")
        self.redis = Path(f"{directory}-redis")

    def __enter__(self):
        try:
            _control("postgres", "start", self.postgres,
                     *(f"{name}={value}" for name, value in POSTGRES_SETTINGS.items()))
            self.sql("postgres", "CREATE EXTENSION pg_stat_statements")
            for database in POSTGRES_DATABASES:
                self.sql("postgres", f"CREATE DATABASE {database}")
            _control("redis", "start", self.redis,
                     *(word for setting in REDIS_SETTINGS.items() for word in setting))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        _control("postgres", "stop", self.postgres)
        _control("redis", "stop", self.redis)

    @property
    def redis_socket(self):
        return self.redis / "redis.sock"

    def dsn(self, engine, directory):
        """Of Errand's storage on `engine`."""
        return {
            "sqlite": f"sqlite:{directory}/bench.db",
            "postgres": f"postgresql://errand@/errand?host={self.postgres}",
            "redis": f"redis+unix://{self.redis_socket}",
            "redis/compact": f"redis+unix://{self.redis_socket}?database=6&record=compact",
        }[engine]

    def transport_dsn(self, engine, directory):
        """Of messages without a record, on the same server."""
        return {
            "postgres": f"postgresql://errand@/errand?host={self.postgres}&queue_name=bench",
            "redis": f"redis+unix://{self.redis_socket}?stream=bench&dbindex=5",
        }[engine]

    def environment(self, peer):
        """Where a peer finds its database."""
        return {
            "PGHOST": str(self.postgres),
            "PGUSER": "errand",
            "PGDATABASE": peer,
            "REDIS_SOCKET": str(self.redis_socket),
            "REDIS_DATABASE": str(REDIS_DATABASES.get(peer, 0)),
        }

    def settle(self):
        """Between contestants: nobody pays for what the one before left to be written or kept."""
        self.forget_redis()
        self.sql("postgres", "CHECKPOINT")

    def forget_redis(self):
        self._redis_cli("FLUSHALL")

    def versions(self):
        return {"PostgreSQL": self.sql("postgres", "SHOW server_version").split()[0],
                "Redis": self.redis_info("server")["redis_version"]}

    def sql(self, database, statement):
        """The answer, without any layout."""
        return subprocess.run(
            ["psql", "-h", self.postgres, "-U", "errand", "-d", database, "-qAtX",
             "-v", "ON_ERROR_STOP=1", "-c", statement],
            check=True, capture_output=True, text=True).stdout.strip()

    def redis_info(self, section):
        answer = self._redis_cli("INFO", section)
        return dict(line.split(":", 1) for line in answer.splitlines() if ":" in line)

    def _redis_cli(self, *words):
        return subprocess.run(["redis-cli", "-s", self.redis_socket, *words],
                              check=True, capture_output=True, text=True).stdout


def _control(server, action, directory, *settings):
    subprocess.run([SOURCE / "tests" / "servers" / server, action, directory, *settings],
                   check=True)
