#include "engine/postgres/submit.hpp"

#include <algorithm>
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

bool are_alike(std::span<const NewTask> tasks) {
  const NewTask& first = tasks.front();
  return std::all_of(tasks.begin(), tasks.end(), [&](const NewTask& task) {
    return task.queue == first.queue && task.envelope.type() == first.envelope.type() &&
           task.priority == first.priority && task.delay == first.delay &&
           task.retry == first.retry;
  });
}

Query submit_one_query(const NewTask& task) {
  Query query{sql::kSubmitOne};
  query.parameters.add(task.id)
      .add(task.envelope.body())
      .add(task.queue)
      .add(task.envelope.type())
      .add(std::int64_t{task.priority})
      .add(std::int64_t{task.delay.count()})
      .add(std::int64_t{task.retry.max_retries})
      .add(detail::retry_policy_json(task.retry))
      .add(detail::headers_json(task.envelope.headers()));
  return query;
}

Query submit_alike_query(std::span<const NewTask> tasks) {
  std::vector<TaskId> ids;
  std::vector<std::string_view> payloads;
  std::vector<std::optional<std::string>> headers;
  for (const NewTask& task : tasks) {
    ids.push_back(task.id);
    payloads.push_back(task.envelope.body());
    headers.push_back(detail::headers_json(task.envelope.headers()));
  }
  const NewTask& any = tasks.front();
  Query query{sql::kSubmitAlike};
  query.parameters.add(std::span<const TaskId>{ids})
      .add(std::span<const std::string_view>{payloads})
      .add(any.queue)
      .add(any.envelope.type())
      .add(std::int64_t{any.priority})
      .add(std::int64_t{any.delay.count()})
      .add(std::int64_t{any.retry.max_retries})
      .add(detail::retry_policy_json(any.retry))
      .add(std::span<const std::optional<std::string>>{headers});
  return query;
}

/// `add(part)` for parts of the tasks which are small enough for one statement.
template <class Add>
void in_statements(std::span<const NewTask> tasks, Add&& add) {
  std::size_t first = 0;
  std::size_t bytes = 0;
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
}

}  // namespace

std::vector<Query> submit_queries(std::span<const NewTask> tasks) {
  std::vector<Query> queries;
  in_statements(tasks, [&](std::span<const NewTask> part) {
    queries.push_back(submit_query(sql::kSubmit, part));
  });
  return queries;
}

std::vector<Query> submit_new_queries(std::span<const NewTask> tasks) {
  std::vector<Query> queries;
  in_statements(tasks, [&](std::span<const NewTask> part) {
    queries.push_back(part.size() == 1  ? submit_one_query(part.front())
                      : are_alike(part) ? submit_alike_query(part)
                                        : submit_query(sql::kSubmit, part));
  });
  return queries;
}

std::vector<Query> adopt_queries(std::span<const NewTask> tasks) {
  std::vector<Query> queries;
  in_statements(tasks, [&](std::span<const NewTask> part) {
    // In this order: the first waits for a record that another transaction is about to commit, and
    // the second sees it.
    queries.push_back(submit_query(sql::kSubmit, part));
    queries.push_back(submit_query(sql::kAdopt, part));
  });
  return queries;
}

}  // namespace errand::postgres
