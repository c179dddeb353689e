#include "engine/postgres/worker_registry.hpp"

#include <array>

#include "errand/codec.hpp"

namespace errand::postgres {
namespace {

constexpr const char* kBeat = R"(
INSERT INTO errand_workers (worker, host, pid, queues, concurrency,
                            running, handled, failed, started_at, seen_at)
VALUES ($1, $2, $3::int8, $4, $5::int8, $6::int8, $7::int8, $8::int8,
        clock_timestamp(), clock_timestamp())
ON CONFLICT (worker) DO UPDATE
SET host = excluded.host, pid = excluded.pid, queues = excluded.queues,
    concurrency = excluded.concurrency, running = excluded.running,
    handled = excluded.handled, failed = excluded.failed, seen_at = excluded.seen_at)";

/// 1 milliseconds. One that is just beating is not waited for.
constexpr const char* kForget = R"(
DELETE FROM errand_workers WHERE worker = ANY (ARRAY(
  SELECT worker FROM errand_workers WHERE seen_at < now() - $1::int8 * interval '1 ms'
  FOR UPDATE SKIP LOCKED)))";

constexpr const char* kRetire = "DELETE FROM errand_workers WHERE worker = $1";

constexpr const char* kWorkers = R"(
SELECT worker, host, pid, queues, concurrency, running, handled, failed, started_at, seen_at
FROM errand_workers ORDER BY started_at, worker)";

}  // namespace

void Registry::beat(const WorkerInfo& worker, std::chrono::milliseconds forget_after) {
  std::array<Query, 2> queries{Query{kBeat}, Query{kForget}};
  const std::string list = encode(worker.queues);
  queries[0]
      .parameters.add(worker.worker)
      .add(worker.host)
      .add(worker.pid)
      .add(list)
      .add(std::int64_t{worker.concurrency})
      .add(worker.running)
      .add(worker.handled)
      .add(worker.failed);
  queries[1].parameters.add(std::int64_t{forget_after.count()});
  database_.write([&](Connection& connection, Changes&) { return connection.run(queries); });
}

void Registry::retire(const std::string& worker) {
  database_.write([&](Connection& connection, Changes&) {
    Query query{kRetire};
    query.parameters.add(worker);
    return connection.run(std::move(query));
  });
}

std::vector<WorkerInfo> Registry::workers() {
  return database_.read([](Connection& connection) {
    const Result result = connection.run(Query{kWorkers});
    std::vector<WorkerInfo> workers;
    for (int row = 0; row < result.rows(); ++row) {
      workers.push_back(WorkerInfo{.worker = std::string{result.text(row, 0)},
                                   .host = std::string{result.text(row, 1)},
                                   .pid = result.integer(row, 2),
                                   .queues = decode<std::vector<std::string>>(result.text(row, 3)),
                                   .concurrency = result.small_integer(row, 4),
                                   .running = result.integer(row, 5),
                                   .handled = result.integer(row, 6),
                                   .failed = result.integer(row, 7),
                                   .started_at = result.time(row, 8),
                                   .seen_at = result.time(row, 9)});
    }
    return workers;
  });
}

}  // namespace errand::postgres
