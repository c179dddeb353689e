#include "engine/redis/catalog.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "errand/errors.hpp"

#include "core/page_position.hpp"
#include "engine/redis/in_parts.hpp"
#include "engine/redis/queue.hpp"
#include "engine/redis/records.hpp"

namespace errand::redis {
namespace {

/// The server does nothing else meanwhile.
constexpr std::size_t kMostAtOnce = 1000;

void add_choice(Command& arguments, const std::optional<std::string>& text) {
  arguments.add(text ? "1" : "0").add(text.value_or(""));
}

}  // namespace

void Catalog::forget_expired() {
  constexpr std::int64_t kPart = 1000;
  Command limit;
  limit.add(kPart);
  while (database_.read(scripts().prune, limit).value().integer() >= kPart) {
  }
}

std::optional<TaskRecord> Catalog::find(TaskId id) {
  Command arguments;
  arguments.add("1").add(id);
  const Reply reply = database_.read(scripts().read, arguments);
  if (reply.value()[1].is_nil()) return std::nullopt;
  return read_record(reply.value()[1], time_of(reply.value()[0].integer()), database_.ttl());
}

std::vector<TaskRecord> Catalog::find_all(std::span<const TaskId> ids) {
  std::vector<TaskRecord> records;
  in_parts(
      ids, {.items = kMostAtOnce, .bytes = Queue::kMostBytes},
      [](Command& arguments, TaskId id) {
        if (arguments.bytes() == 0) arguments.add("0");
        arguments.add(id);
      },
      [&](const Command& arguments) {
        const Reply reply = database_.read(scripts().read, arguments);
        const Timestamp now = time_of(reply.value()[0].integer());
        for (std::size_t i = 1; i < reply.value().size(); ++i) {
          if (reply.value()[i].is_nil()) continue;
          records.push_back(read_record(reply.value()[i], now, database_.ttl()));
        }
      });
  return records;
}

TaskPage Catalog::list(const TaskFilter& filter, const PageRequest& request) {
  detail::validate(request);
  forget_expired();
  // More than any storage holds, and what Lua's numbers hold exactly.
  constexpr std::int64_t kMany = std::int64_t{1} << 50U;
  const std::int64_t page_size = std::min(request.page_size, kMany);
  const std::int64_t passed = std::min(detail::passed_over(request), kMany);
  Command arguments;
  arguments.add(request.documents ? "1"
                : request.errors  ? "error"
                                  : "0")
      .add(passed)
      .add(page_size);
  arguments.add(request.after ? std::to_string(*request.after) : "");
  arguments.add(request.count ? "1" : "0");
  add_choice(arguments, filter.type);
  add_choice(arguments, filter.queue);
  for (const TaskStatus status : std::set(filter.statuses.begin(), filter.statuses.end())) {
    arguments.add(to_string(status));
  }
  const Reply reply = database_.read(scripts().list, arguments);
  const Timestamp now = time_of(reply.value()[0].integer());
  TaskPage page{.items = {},
                .total = reply.value()[1].integer(),
                .page = request.page,
                .page_size = request.page_size};
  if (!reply.value()[3].is_nil()) page.next = reply.value()[3].integer();
  const Value records = reply.value()[2];
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].is_nil()) continue;
    try {
      page.items.push_back(read_record(records[i], now, database_.ttl()));
    } catch (const ValidationException&) {
      // Another program wrote what no task can have; find() tells of it, and a list goes on.
    }
  }
  return page;
}

TaskStats Catalog::stats() {
  forget_expired();
  const Reply reply = database_.read(scripts().stats, Command{});
  TaskStats stats;
  for (std::size_t i = 0; i < stats.tasks.size(); ++i) {
    stats.tasks[i] = reply.value()[0][i].integer();
  }
  const Value queues = reply.value()[1];
  for (std::size_t i = 0; i < queues.size(); ++i) {
    QueueStats queue{.queue = std::string{queues[i][0].text()},
                     .paused = queues[i][1].integer() == 1,
                     .due = queues[i][2].integer(),
                     .delayed = queues[i][3].integer(),
                     .running = queues[i][4].integer()};
    if (!queues[i][5].is_nil()) {
      queue.oldest_due = std::chrono::floor<std::chrono::milliseconds>(
          std::chrono::microseconds{queues[i][5].integer()});
    }
    stats.queues.push_back(std::move(queue));
  }
  std::sort(stats.queues.begin(), stats.queues.end(),
            [](const QueueStats& a, const QueueStats& b) { return a.queue < b.queue; });
  return stats;
}

EndedTasks Catalog::ended(Timestamp since, std::size_t latest) {
  Command arguments;
  arguments.add(std::chrono::floor<std::chrono::seconds>(since).time_since_epoch().count())
      .add(static_cast<std::int64_t>(latest));
  const Reply reply = database_.read(scripts().ended, arguments);
  EndedTasks ended;
  const Value seconds = reply.value()[1];
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    EndedTasks::Second second{.begin = Timestamp{std::chrono::seconds{seconds[i][0].integer()}}};
    for (std::size_t status = 0; status < second.tasks.size(); ++status) {
      second.tasks[status] = seconds[i][status + 1].integer();
    }
    ended.seconds.push_back(second);
  }
  std::sort(ended.seconds.begin(), ended.seconds.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  const Timestamp now = time_of(reply.value()[0].integer());
  const Value records = reply.value()[2];
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].is_nil()) continue;
    try {
      ended.latest.push_back(read_record(records[i], now, database_.ttl()));
    } catch (const ValidationException&) {
      // As in a list.
    }
  }
  return ended;
}

}  // namespace errand::redis
