#include "engine/redis/worker_registry.hpp"

#include <algorithm>
#include <boost/describe/class.hpp>
#include <charconv>
#include <tuple>

#include "errand/codec.hpp"
#include "errand/errors.hpp"

#include "engine/redis/records.hpp"

namespace errand::redis {
namespace {

/// What a worker says of itself.
struct Portrait {
  std::string host;
  std::int64_t pid = 0;
  std::vector<std::string> queues;
  int concurrency = 1;
  std::int64_t running = 0;
  std::int64_t handled = 0;
  std::int64_t failed = 0;
};
BOOST_DESCRIBE_STRUCT(Portrait, (), (host, pid, queues, concurrency, running, handled, failed))

/// The microseconds that `text` begins with, and the space after them, are taken away from it.
Timestamp take_time(std::string_view& text) {
  std::int64_t microseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), microseconds);
  if (error != std::errc{} || end == text.data() + text.size()) {
    throw StorageException{"Redis holds a worker that no Errand wrote",
                           StorageException::Retry::useless};
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return time_of(microseconds);
}

}  // namespace

void Registry::beat(const WorkerInfo& worker, std::chrono::milliseconds forget_after) {
  Command arguments;
  arguments.add(worker.worker)
      .add(encode(Portrait{worker.host, worker.pid, worker.queues, worker.concurrency,
                           worker.running, worker.handled, worker.failed}))
      .add(std::int64_t{forget_after.count()});
  database_.write(scripts().beat, arguments);
}

void Registry::retire(const std::string& worker) {
  database_.write([&](Connection& connection) {
    return connection.run(Command{"HDEL"}.add(database_.own_key("workers")).add(worker));
  });
}

std::vector<WorkerInfo> Registry::workers() {
  const Reply reply = database_.read([&](Connection& connection) {
    return connection.run(Command{"HGETALL"}.add(database_.own_key("workers")));
  });
  std::vector<WorkerInfo> workers;
  for (std::size_t i = 0; i + 1 < reply.value().size(); i += 2) {
    std::string_view text = reply.value()[i + 1].text();
    const Timestamp started_at = take_time(text);
    const Timestamp seen_at = take_time(text);
    auto portrait = decode<Portrait>(text);
    workers.push_back(WorkerInfo{.worker = std::string{reply.value()[i].text()},
                                 .host = std::move(portrait.host),
                                 .pid = portrait.pid,
                                 .queues = std::move(portrait.queues),
                                 .concurrency = portrait.concurrency,
                                 .running = portrait.running,
                                 .handled = portrait.handled,
                                 .failed = portrait.failed,
                                 .started_at = started_at,
                                 .seen_at = seen_at});
  }
  std::sort(workers.begin(), workers.end(), [](const WorkerInfo& a, const WorkerInfo& b) {
    return std::tie(a.started_at, a.worker) < std::tie(b.started_at, b.worker);
  });
  return workers;
}

}  // namespace errand::redis
