#include "engine/postgres/catalog.hpp"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "errand/errors.hpp"

#include "core/page_position.hpp"
#include "engine/postgres/held_statements.hpp"
#include "engine/postgres/rows.hpp"

namespace errand::postgres {
namespace {

/// 1 ttl in ms, 2 task_id.
const std::string kFind =
    "SELECT " + record_columns(Documents::all) + " FROM errand_tasks WHERE task_id = $2::uuid";

/// 1 ttl in ms, 2 task_ids.
const std::string kFindAll = "SELECT " + record_columns(Documents::none) +
                             " FROM errand_tasks WHERE task_id = ANY ($2::uuid[])";

constexpr const char* kPending = "pending";
constexpr std::array kStatuses{kPending, "running", "retrying", "completed", "failed", "cancelled"};

/// True: this status is asked for. 1 statuses, NULL: all.
std::string is_wanted(std::string_view status) {
  return fmt::format("($1::text[] IS NULL OR '{}' = ANY ($1::text[]))", status);
}

/// `part(status)` for each status, put together. By name, since an index on some statuses is used
/// where it is known which one is asked for, and one plan is made for all values to come; what is
/// not wanted is not run.
template <class Part>
std::string for_each_status(const Part& part) {
  std::string sql;
  for (const char* status : kStatuses) {
    if (!sql.empty()) sql += " UNION ALL ";
    sql += part(status);
  }
  return sql;
}

constexpr const char* kHeldTasks = ERRAND_POSTGRES_HELD_TASKS("errand_bundles") " AS held";

/// 1 statuses, 2 type, 3 queue_name; each NULL where anything goes. A column that nobody asks for
/// must not be named, or no index alone can answer. Held tasks are counted apart for the same
/// reason, and moved from the one status to the other.
std::string count_sql(bool of_type, bool of_queue) {
  const auto count = [&](const char* tasks, std::string_view table, const char* status) {
    return fmt::format("SELECT {} AS tasks FROM {} WHERE {} AND {} AND {}", tasks, table,
                       is_wanted(status), of_type ? "type = $2::text" : "$2::text IS NULL",
                       of_queue ? "queue_name = $3::text" : "$3::text IS NULL");
  };
  return "SELECT sum(tasks)::int8 FROM (" + for_each_status([&](const char* status) {
           return count("count(*)", "async_tasks", status) +
                  fmt::format(" AND status = '{}'", status);
         }) +
         " UNION ALL " + count("count(*)", kHeldTasks, "running") + " UNION ALL " +
         count("-count(*)", kHeldTasks, "pending") + ") AS counted";
}

const char* count_sql(const TaskFilter& filter) {
  static const std::array<std::string, 4> sql{count_sql(false, false), count_sql(false, true),
                                              count_sql(true, false), count_sql(true, true)};
  return sql[(filter.type ? 2U : 0U) + (filter.queue ? 1U : 0U)].c_str();
}

/// As count_sql(); 4 ttl in ms, 5 limit, 6 offset, 7 the seq that those before have reached, 8
/// limit and offset together. The newest of each status, which their index has in order, and of
/// these the newest: no index of all tasks by seq has to be kept for it.
std::string list_sql(Documents documents) {
  std::string columns = record_columns(documents);
  const std::string ttl = "$1::int8";
  columns.replace(columns.find(ttl), ttl.size(), "$4::int8");
  const auto newest = [](const char* what, std::string_view table, const char* status) {
    return fmt::format(R"(SELECT {} FROM {} WHERE {}
                            AND ($2::text IS NULL OR type = $2::text)
                            AND ($3::text IS NULL OR queue_name = $3::text)
                            AND seq < $7::int8)",
                       what, table, is_wanted(status));
  };
  const std::string order = " ORDER BY seq DESC LIMIT $8::int8";
  return "SELECT " + columns + ", seq FROM (" + for_each_status([&](const char* status) {
           std::string condition = fmt::format(" AND status = '{}'", status);
           if (status == kPending) condition += " AND NOT " ERRAND_POSTGRES_HELD_OF_MANY;
           return "(" + newest("*", "async_tasks", status) + condition + order + ")";
         }) +
         " UNION ALL (SELECT * FROM errand_tasks WHERE task_id = ANY (ARRAY(" +
         newest("task_id", kHeldTasks, "running") + order +
         ")))) AS newest ORDER BY seq DESC LIMIT $5::int8 OFFSET $6::int8";
}

/// Behind those of record_columns().
constexpr int kSeqColumn = 24;

const std::string kList = list_sql(Documents::all);
const std::string kListWithErrors = list_sql(Documents::error);
const std::string kListWithoutDocuments = list_sql(Documents::none);

const char* list_sql(const PageRequest& request) {
  if (request.documents) return kList.c_str();
  return (request.errors ? kListWithErrors : kListWithoutDocuments).c_str();
}

/// To be added up by status.
constexpr const char* kByStatus = R"(
SELECT status, count(*) FROM async_tasks WHERE status NOT IN ('running', 'completed') GROUP BY status
UNION ALL
SELECT 'running', count(*) FROM async_tasks WHERE status = 'running'
UNION ALL
SELECT 'completed', count(*) FROM async_tasks WHERE status = 'completed'
UNION ALL
SELECT moved.status, moved.sign * held.tasks
FROM (VALUES ('pending', -1), ('running', 1)) AS moved (status, sign),
     (SELECT count(*) AS tasks FROM )" ERRAND_POSTGRES_HELD_TASKS(
    "errand_bundles") " AS task) AS held";

constexpr const char* kWaiting = R"(
SELECT queue_name, count(*) FILTER (WHERE available_at <= now()),
       count(*) FILTER (WHERE available_at > now()),
       (extract(epoch FROM now() - min(available_at)) * 1000)::int8
FROM async_tasks WHERE status IN ('pending', 'retrying') AND queue_name IS NOT NULL
  AND NOT )" ERRAND_POSTGRES_HELD_OF_MANY " GROUP BY queue_name";

/// To be added up by queue.
constexpr const char* kRunning = R"(
SELECT queue_name, count(*) FROM async_tasks
WHERE status = 'running' AND queue_name IS NOT NULL GROUP BY queue_name
UNION ALL
SELECT queue_name, count(*) FROM )" ERRAND_POSTGRES_HELD_TASKS(
    "errand_bundles") " AS held GROUP BY queue_name";

constexpr const char* kPaused = "SELECT queue_name FROM errand_paused_queues";

/// 1 since.
constexpr const char* kEndedBySecond = R"(
SELECT date_trunc('second', completed_at), status, count(*) FROM async_tasks
WHERE completed_at >= $1::timestamptz GROUP BY 1, 2 ORDER BY 1)";

/// 1 ttl in ms, 2 since, 3 limit.
const std::string kLastEnded = "SELECT " + record_columns(Documents::none) +
                               " FROM async_tasks WHERE completed_at >= $2::timestamptz"
                               " ORDER BY completed_at DESC LIMIT $3::int8";

void add_filter(Parameters& parameters, const TaskFilter& filter) {
  if (filter.statuses.empty()) {
    parameters.add(std::optional<std::string>{});
  } else {
    std::vector<std::string> names;
    for (const TaskStatus status : filter.statuses) names.emplace_back(to_string(status));
    parameters.add(std::span<const std::string>{names});
  }
  parameters.add(filter.type).add(filter.queue);
}

}  // namespace

std::optional<TaskRecord> Catalog::find(TaskId id) {
  return database_.read([&](Connection& connection) -> std::optional<TaskRecord> {
    Query query{kFind.c_str()};
    query.parameters.add(std::int64_t{database_.ttl().count()}).add(id);
    const Result result = connection.run(std::move(query));
    if (result.rows() == 0) return std::nullopt;
    return read_record(result, 0);
  });
}

std::vector<TaskRecord> Catalog::find_all(std::span<const TaskId> ids) {
  if (ids.empty()) return {};
  return database_.read([&](Connection& connection) {
    Query query{kFindAll.c_str()};
    query.parameters.add(std::int64_t{database_.ttl().count()}).add(ids);
    const Result result = connection.run(std::move(query));
    std::vector<TaskRecord> records;
    for (int row = 0; row < result.rows(); ++row) records.push_back(read_record(result, row));
    return records;
  });
}

TaskPage Catalog::list(const TaskFilter& filter, const PageRequest& request) {
  detail::validate(request);
  return database_.read([&](Connection& connection) {
    TaskPage page{.items = {}, .total = 0, .page = request.page, .page_size = request.page_size};
    if (request.count) {
      Query count{count_sql(filter)};
      add_filter(count.parameters, filter);
      page.total = connection.run(std::move(count)).integer(0, 0);
      if (!request.after && request.page > page.total_pages()) return page;
    }
    Query query{list_sql(request)};
    add_filter(query.parameters, filter);
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t limit = detail::one_more(request.page_size);
    const std::int64_t offset = detail::passed_over(request);
    query.parameters.add(std::int64_t{database_.ttl().count()})
        .add(limit)
        .add(offset)
        .add(request.after.value_or(kMost))
        .add(offset > kMost - limit ? kMost : offset + limit);
    const Result result = connection.run(std::move(query));
    for (int row = 0; row < result.rows(); ++row) {
      if (row == request.page_size) {
        page.next = result.integer(row - 1, kSeqColumn);
        break;
      }
      page.items.push_back(read_record(result, row));
    }
    return page;
  });
}

TaskStats Catalog::stats() {
  return database_.read([](Connection& connection) {
    std::array<Query, 4> queries{Query{kByStatus}, Query{kWaiting}, Query{kRunning},
                                 Query{kPaused}};
    const std::vector<Result> results = connection.run(queries);
    TaskStats stats;
    const Result& by_status = results[0];
    for (int row = 0; row < by_status.rows(); ++row) {
      if (const auto status = parse_task_status(by_status.text(row, 0))) {
        stats.tasks[static_cast<std::size_t>(*status)] += by_status.integer(row, 1);
      }
    }
    std::map<std::string, QueueStats> queues;
    const auto queue_named = [&](std::string_view name) -> QueueStats& {
      QueueStats& queue = queues[std::string{name}];
      queue.queue = name;
      return queue;
    };
    const Result& waiting = results[1];
    for (int row = 0; row < waiting.rows(); ++row) {
      QueueStats& queue = queue_named(waiting.text(row, 0));
      queue.due = waiting.integer(row, 1);
      queue.delayed = waiting.integer(row, 2);
      if (queue.due > 0) queue.oldest_due = std::chrono::milliseconds{waiting.integer(row, 3)};
    }
    const Result& running = results[2];
    for (int row = 0; row < running.rows(); ++row) {
      queue_named(running.text(row, 0)).running += running.integer(row, 1);
    }
    const Result& paused = results[3];
    for (int row = 0; row < paused.rows(); ++row) queue_named(paused.text(row, 0)).paused = true;
    for (auto& [name, queue] : queues) stats.queues.push_back(std::move(queue));
    return stats;
  });
}

EndedTasks Catalog::ended(Timestamp since, std::size_t latest) {
  const Timestamp begin = std::chrono::floor<std::chrono::seconds>(since);
  return database_.read([&](Connection& connection) {
    std::array<Query, 2> queries{Query{kEndedBySecond}, Query{kLastEnded.c_str()}};
    queries[0].parameters.add(begin);
    queries[1]
        .parameters.add(std::int64_t{database_.ttl().count()})
        .add(begin)
        .add(static_cast<std::int64_t>(latest));
    const std::vector<Result> results = connection.run(queries);
    EndedTasks ended;
    const Result& counts = results[0];
    for (int row = 0; row < counts.rows(); ++row) {
      const Timestamp second = counts.time(row, 0);
      if (ended.seconds.empty() || ended.seconds.back().begin != second) {
        ended.seconds.push_back({.begin = second});
      }
      if (const auto status = parse_task_status(counts.text(row, 1))) {
        ended.seconds.back().tasks[static_cast<std::size_t>(*status)] = counts.integer(row, 2);
      }
    }
    for (int row = 0; row < results[1].rows(); ++row) {
      ended.latest.push_back(read_record(results[1], row));
    }
    return ended;
  });
}

}  // namespace errand::postgres
