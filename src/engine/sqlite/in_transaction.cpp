#include "errand/sqlite.hpp"

#include "engine/sqlite/connection.hpp"
#include "engine/sqlite/statements.hpp"
#include "engine/sqlite/submit.hpp"

namespace errand {

void submit_in_transaction(sqlite3* connection, std::span<const NewTask> tasks,
                           const Clock& clock) {
  if (tasks.empty()) return;
  for (const NewTask& task : tasks) validate(task);
  sqlite::Statement statement{connection, sqlite::sql::kSubmit};
  const Timestamp now = clock.now();
  for (const NewTask& task : tasks) sqlite::run_for_task(statement, task, now);
}

}  // namespace errand
