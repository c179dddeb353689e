#include "engine/sqlite/catalog.hpp"

#include <map>
#include <string>
#include <vector>

#include "errand/errors.hpp"

#include "core/page_position.hpp"
#include "engine/sqlite/rows.hpp"

namespace errand::sqlite {
namespace {

using detail::one_more;
using detail::passed_over;

const std::string kFind =
    std::string{"SELECT "} + kRecordColumns + " FROM async_tasks WHERE task_id = ?1";

/// 1 now. Both halves are answered by their index alone: the rows, with their documents, are not
/// touched.
constexpr const char* kWaiting = R"(
SELECT queue_name, sum(due), sum(delayed), min(first) FROM (
  SELECT queue_name, sum(available_at <= ?1) due, sum(available_at > ?1) delayed,
         min(available_at) first
  FROM async_tasks INDEXED BY idx_claimable
  WHERE status IN ('pending', 'retrying') AND crashes < 2 AND queue_name IS NOT NULL
  GROUP BY queue_name
  UNION ALL
  SELECT queue_name, sum(available_at <= ?1), sum(available_at > ?1), min(available_at)
  FROM async_tasks INDEXED BY idx_suspects
  WHERE status IN ('pending', 'retrying') AND crashes >= 2 AND queue_name IS NOT NULL
  GROUP BY queue_name)
GROUP BY queue_name)";

constexpr const char* kRunning = R"(
SELECT queue_name, count(*) FROM async_tasks INDEXED BY idx_status
WHERE status = 'running' AND queue_name IS NOT NULL GROUP BY queue_name)";

/// 1 the first second. The index alone tells which these are.
constexpr const char* kEndedBySecond = R"(
SELECT substr(completed_at, 1, 19), status, count(*) FROM async_tasks INDEXED BY idx_completed_at
WHERE completed_at >= ?1 GROUP BY 1, 2 ORDER BY 1)";

/// A filter as SQL: the text has parameters only, the values are bound.
struct Condition {
  std::string sql;
  std::vector<std::string> values;
};

Condition condition_of(const TaskFilter& filter) {
  Condition condition;
  const auto add = [&](const std::string& term) {
    condition.sql += condition.sql.empty() ? " WHERE " : " AND ";
    condition.sql += term;
  };
  const auto parameter = [&](std::string value) {
    condition.values.push_back(std::move(value));
    return "?" + std::to_string(condition.values.size());
  };
  if (!filter.statuses.empty()) {
    std::string list;
    for (const TaskStatus status : filter.statuses) {
      list += (list.empty() ? "" : ", ") + parameter(std::string{to_string(status)});
    }
    add("status IN (" + list + ")");
  }
  if (filter.type) add("type = " + parameter(*filter.type));
  if (filter.queue) add("queue_name = " + parameter(*filter.queue));
  return condition;
}

/// The same columns with the documents replaced by NULL: they may be large.
constexpr const char* kSummaryColumns =
    "task_id, status, NULL, NULL, NULL, submitted_at, started_at, completed_at, version, "
    "type, queue_name, priority, available_at, attempts, crashes, max_retries, retry_policy, "
    "headers, worker, lease_expires_at, cancel_requested, progress, NULL";
constexpr const char* kSummaryAndErrorColumns =
    "task_id, status, NULL, NULL, error, submitted_at, started_at, completed_at, version, "
    "type, queue_name, priority, available_at, attempts, crashes, max_retries, retry_policy, "
    "headers, worker, lease_expires_at, cancel_requested, progress, NULL";

std::string list_columns(const PageRequest& request) {
  if (request.documents) return kRecordColumns;
  return request.errors ? kSummaryAndErrorColumns : kSummaryColumns;
}

const std::string kFindSummary =
    std::string{"SELECT "} + kSummaryColumns + " FROM async_tasks WHERE task_id = ?1";

/// Behind those of list_columns().
constexpr int kRowIdColumn = 23;

std::string position_of(const PageRequest& request, const Condition& condition) {
  if (!request.after) return {};
  return (condition.sql.empty() ? " WHERE rowid < " : " AND rowid < ") +
         std::to_string(*request.after);
}

/// Whether so many tasks have these statuses that it is better to walk over all tasks, the newest
/// first, than to gather those that fit and sort them.
bool are_common(Connection& connection, const std::vector<TaskStatus>& statuses) {
  constexpr std::int64_t kMany = 10'000;
  std::string list;
  for (const TaskStatus status : statuses) {
    list += (list.empty() ? "'" : ", '") + std::string{to_string(status)} + "'";
  }
  Statement statement = connection.prepare_once(
      "SELECT count(*) FROM (SELECT 1 FROM async_tasks INDEXED BY idx_status WHERE status IN (" +
      list + ") LIMIT " + std::to_string(kMany) + ")");
  statement.step();
  return statement.integer(0) == kMany;
}

std::int64_t count(Connection& connection, const Condition& condition) {
  Statement statement = connection.prepare_once("SELECT count(*) FROM async_tasks" + condition.sql);
  for (std::size_t i = 0; i < condition.values.size(); ++i) {
    statement.bind(static_cast<int>(i) + 1, condition.values[i]);
  }
  statement.step();
  return statement.integer(0);
}

}  // namespace

TaskRecord Catalog::read_with_expiry(const Statement& row) const {
  TaskRecord record = read_record(row);
  record.expired = database_.is_expired(record.data.completed_at);
  return record;
}

std::optional<TaskRecord> Catalog::find(TaskId id) {
  const std::string key = id.to_string();
  return database_.read([&](Connection& connection) {
    std::optional<TaskRecord> record;
    Statement& row = connection.prepare(kFind.c_str()).bind(1, key);
    if (row.step()) record = read_with_expiry(row);
    row.reset();
    return record;
  });
}

std::vector<TaskRecord> Catalog::find_all(std::span<const TaskId> ids) {
  if (ids.empty()) return {};
  return database_.read([&](Connection& connection) {
    std::vector<TaskRecord> records;
    for (const TaskId id : ids) {
      const std::string key = id.to_string();
      Statement& row = connection.prepare(kFindSummary.c_str()).bind(1, key);
      if (row.step()) records.push_back(read_with_expiry(row));
      row.reset();
    }
    return records;
  });
}

TaskPage Catalog::list(const TaskFilter& filter, const PageRequest& request) {
  detail::validate(request);
  const Condition condition = condition_of(filter);
  return database_.read([&](Connection& connection) {
    TaskPage page{.items = {},
                  .total = request.count ? count(connection, condition) : 0,
                  .page = request.page,
                  .page_size = request.page_size};
    const bool walks = !filter.statuses.empty() && are_common(connection, filter.statuses);
    Statement row = connection.prepare_once(
        "SELECT " + list_columns(request) + ", rowid FROM async_tasks" +
        (walks ? " NOT INDEXED" : "") + condition.sql + position_of(request, condition) +
        " ORDER BY rowid DESC LIMIT " + std::to_string(one_more(request.page_size)) + " OFFSET " +
        std::to_string(passed_over(request)));
    for (std::size_t i = 0; i < condition.values.size(); ++i) {
      row.bind(static_cast<int>(i) + 1, condition.values[i]);
    }
    std::int64_t last = 0;
    while (row.step()) {
      if (std::ssize(page.items) == request.page_size) {
        page.next = last;
        break;
      }
      last = row.integer(kRowIdColumn);
      page.items.push_back(read_with_expiry(row));
    }
    return page;
  });
}

TaskStats Catalog::stats() {
  const Timestamp now = database_.now();
  const std::string now_text = to_sql_time(now);
  return database_.read([&](Connection& connection) {
    TaskStats stats;
    Statement& by_status =
        connection.prepare("SELECT status, count(*) FROM async_tasks GROUP BY status");
    while (by_status.step()) {
      if (const auto status = parse_task_status(by_status.text(0))) {
        stats.tasks[static_cast<std::size_t>(*status)] = by_status.integer(1);
      }
    }

    std::map<std::string, QueueStats> queues;
    const auto queue_named = [&](std::string_view name) -> QueueStats& {
      QueueStats& queue = queues[std::string{name}];
      queue.queue = name;
      return queue;
    };
    Statement& waiting = connection.prepare(kWaiting);
    waiting.bind(1, now_text);
    while (waiting.step()) {
      QueueStats& queue = queue_named(waiting.text(0));
      queue.due = waiting.integer(1);
      queue.delayed = waiting.integer(2);
      if (queue.due > 0) {
        queue.oldest_due =
            std::chrono::duration_cast<std::chrono::milliseconds>(now - read_time(waiting, 3));
      }
    }
    Statement& running = connection.prepare(kRunning);
    while (running.step()) queue_named(running.text(0)).running = running.integer(1);
    Statement& paused = connection.prepare("SELECT queue_name FROM errand_paused_queues");
    while (paused.step()) queue_named(paused.text(0)).paused = true;

    for (auto& [name, queue] : queues) stats.queues.push_back(std::move(queue));
    return stats;
  });
}

EndedTasks Catalog::ended(Timestamp since, std::size_t latest) {
  // Without its fraction, which other writers leave out.
  constexpr std::size_t kWholeSeconds = 19;
  const std::string begin = to_sql_time(since).substr(0, kWholeSeconds);
  return database_.read([&](Connection& connection) {
    EndedTasks ended;
    Statement& counts = connection.prepare(kEndedBySecond);
    counts.bind(1, begin);
    while (counts.step()) {
      const Timestamp second = read_time(counts, 0);
      if (ended.seconds.empty() || ended.seconds.back().begin != second) {
        ended.seconds.push_back({.begin = second});
      }
      if (const auto status = parse_task_status(counts.text(1))) {
        ended.seconds.back().tasks[static_cast<std::size_t>(*status)] = counts.integer(2);
      }
    }
    static const std::string kLastEnded =
        std::string{"SELECT "} + kSummaryColumns +
        " FROM async_tasks INDEXED BY idx_completed_at WHERE completed_at >= ?1"
        " ORDER BY completed_at DESC LIMIT ?2";
    Statement& row = connection.prepare(kLastEnded.c_str());
    row.bind(1, begin).bind(2, static_cast<std::int64_t>(latest));
    while (row.step()) ended.latest.push_back(read_with_expiry(row));
    return ended;
  });
}

}  // namespace errand::sqlite
