#include "engine/postgres/submit.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "core/stored_json.hpp"
#include "engine/postgres/statements.hpp"

namespace errand::postgres {

namespace {

/// A statement must stay far below the server's limit of 1 GB.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

Query submit_query(const char* sql, std::span<const NewTask> tasks) {
  std::vector<TaskId> ids;
  std::vector<std::string_view> payloads;
  std::vector<std::string_view> queues;
  std::vector<std::string_view> types;
  std::vector<std::int64_t> priorities;
  std::vector<std::int64_t> delays;
  std::vector<std::int64_t> max_retries;
  std::vector<std::optional<std::string>> policies;
  std::vector<std::optional<std::string>> headers;
  for (const NewTask& task : tasks) {
    ids.push_back(task.id);
    payloads.push_back(task.envelope.body());
    queues.push_back(task.queue);
    types.push_back(task.envelope.type());
    priorities.push_back(task.priority);
    delays.push_back(task.delay.count());
    max_retries.push_back(task.retry.max_retries);
    policies.push_back(detail::retry_policy_json(task.retry));
    headers.push_back(detail::headers_json(task.envelope.headers()));
  }
  Query query{sql};
  query.parameters.add(std::span<const TaskId>{ids})
      .add(std::span<const std::string_view>{payloads})
      .add(std::span<const std::string_view>{queues})
      .add(std::span<const std::string_view>{types})
      .add(std::span<const std::int64_t>{priorities})
      .add(std::span<const std::int64_t>{delays})
      .add(std::span<const std::int64_t>{max_retries})
      .add(std::span<const std::optional<std::string>>{policies})
      .add(std::span<const std::optional<std::string>>{headers});
  return query;
}

std::vector<Query> submit_queries(std::span<const NewTask> tasks,
                                  std::span<const char* const> statements) {
  std::vector<Query> queries;
  std::size_t first = 0;
  std::size_t bytes = 0;
  const auto add = [&](std::span<const NewTask> part) {
    for (const char* sql : statements) queries.push_back(submit_query(sql, part));
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::size_t size = tasks[i].envelope.body().size();
    if (i > first && bytes + size > kMostBytes) {
      add(tasks.subspan(first, i - first));
      first = i;
      bytes = 0;
    }
    bytes += size;
  }
  add(tasks.subspan(first));
  return queries;
}

}  // namespace

std::vector<Query> submit_queries(std::span<const NewTask> tasks) {
  return submit_queries(tasks, std::array{sql::kSubmit});
}

std::vector<Query> adopt_queries(std::span<const NewTask> tasks) {
  // In this order: the first waits for a record that another transaction is about to commit, and
  // the second sees it.
  return submit_queries(tasks, std::array{sql::kSubmit, sql::kAdopt});
}

}  // namespace errand::postgres
