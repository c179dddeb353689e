#include "engine/sqlite/submit.hpp"

#include <string>

#include "core/stored_json.hpp"

namespace errand::sqlite {

void run_for_task(Statement& statement, const NewTask& task, Timestamp now) {
  const std::string id = task.id.to_string();
  const std::string submitted_at = to_sql_time(now);
  const std::string available_at = to_sql_time(now + task.delay);
  const auto policy = detail::retry_policy_json(task.retry);
  const auto headers = detail::headers_json(task.envelope.headers());
  statement.bind(1, id)
      .bind(2, task.envelope.body())
      .bind(3, submitted_at)
      .bind(4, task.queue)
      .bind(5, task.envelope.type())
      .bind(6, task.priority)
      .bind(7, available_at)
      .bind(8, task.retry.max_retries)
      .bind(9, policy)
      .bind(10, headers)
      .run();
}

}  // namespace errand::sqlite
