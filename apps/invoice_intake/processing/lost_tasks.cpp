#include "invoice_intake/processing/lost_tasks.hpp"

#include "errand/errors.hpp"
#include "errand/task_id.hpp"

namespace errand::invoices {

bool is_lost(Engine& engine, const EmailProcessingTask& task) {
  const bool waits = task.status == EmailTaskStatus::pending ||
                     task.status == EmailTaskStatus::processing ||
                     task.status == EmailTaskStatus::retrying;
  if (!waits) return false;
  const std::optional<TaskId> id = task.task_id ? TaskId::parse(*task.task_id) : std::nullopt;
  if (!id) return true;
  const std::optional<TaskData> errand_task = engine.storage().load(*id);
  return !errand_task || is_final(errand_task->status);
}

void fail_lost(EmailProcessingTask& task, Timestamp now) {
  if (task.status != EmailTaskStatus::processing) task.start_processing(now);
  task.fail_processing({.type = "errand::WorkerLost",
                        .code = "worker_lost",
                        .message = "its Errand task ended without an outcome",
                        .step = "process"},
                       now);
}

}  // namespace errand::invoices
