#pragma once

#include "errand/task_queue.hpp"
#include "errand/timestamp.hpp"

#include "engine/sqlite/connection.hpp"

namespace errand::sqlite {

/// Runs `statement`, which takes what sql::kSubmit takes, for a task that validate() has accepted.
void run_for_task(Statement& statement, const NewTask& task, Timestamp now);

}  // namespace errand::sqlite
