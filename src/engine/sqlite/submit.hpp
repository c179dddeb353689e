#pragma once

#include "errand/task_queue.hpp"
#include "errand/timestamp.hpp"

#include "engine/sqlite/connection.hpp"

namespace errand::sqlite {

/// Runs `statement`, which is sql::kSubmit, for a task that validate() has accepted.
void insert_task(Statement& statement, const NewTask& task, Timestamp now);

}  // namespace errand::sqlite
