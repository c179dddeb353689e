#include "engine/sqlite/worker_registry.hpp"

#include "errand/codec.hpp"

#include "engine/sqlite/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kBeat = R"(
INSERT INTO errand_workers (worker, host, pid, queues, concurrency,
                            running, handled, failed, started_at, seen_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
ON CONFLICT (worker) DO UPDATE
SET host = excluded.host, pid = excluded.pid, queues = excluded.queues,
    concurrency = excluded.concurrency, running = excluded.running,
    handled = excluded.handled, failed = excluded.failed, seen_at = excluded.seen_at)";

constexpr const char* kWorkers = R"(
SELECT worker, host, pid, queues, concurrency, running, handled, failed, started_at, seen_at
FROM errand_workers ORDER BY started_at, rowid)";

}  // namespace

void Registry::beat(const WorkerInfo& worker, std::chrono::milliseconds forget_after) {
  const Timestamp now = database_.now();
  const std::string now_text = to_sql_time(now);
  const std::string oldest = to_sql_time(now - forget_after);
  const std::string queues = encode(worker.queues);
  database_.write([&](Connection& connection, Changes&) {
    connection.prepare(kBeat)
        .bind(1, worker.worker)
        .bind(2, worker.host)
        .bind(3, worker.pid)
        .bind(4, queues)
        .bind(5, worker.concurrency)
        .bind(6, worker.running)
        .bind(7, worker.handled)
        .bind(8, worker.failed)
        .bind(9, now_text)
        .run();
    connection.prepare("DELETE FROM errand_workers WHERE seen_at < ?1").bind(1, oldest).run();
    return true;
  });
}

void Registry::retire(const std::string& worker) {
  database_.write([&](Connection& connection, Changes&) {
    connection.prepare("DELETE FROM errand_workers WHERE worker = ?1").bind(1, worker).run();
    return true;
  });
}

std::vector<WorkerInfo> Registry::workers() {
  return database_.read([](Connection& connection) {
    std::vector<WorkerInfo> workers;
    Statement& row = connection.prepare(kWorkers);
    while (row.step()) {
      workers.push_back(WorkerInfo{.worker = std::string{row.text(0)},
                                   .host = std::string{row.text(1)},
                                   .pid = row.integer(2),
                                   .queues = decode<std::vector<std::string>>(row.text(3)),
                                   .concurrency = row.small_integer(4),
                                   .running = row.integer(5),
                                   .handled = row.integer(6),
                                   .failed = row.integer(7),
                                   .started_at = read_time(row, 8),
                                   .seen_at = read_time(row, 9)});
    }
    return workers;
  });
}

}  // namespace errand::sqlite
