#include "invoice_intake/processing/lost_tasks.hpp"

#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"
#include "errand/task_id.hpp"

#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/store/email_tasks.hpp"

namespace errand::invoices {
namespace {

/// Waiting tasks are many, and few of them are lost: the oldest are looked at.
constexpr std::int64_t kMostWaiting = 1000;

std::optional<TaskData> errand_task_of(Engine& engine, const EmailProcessingTask& task) {
  const std::optional<TaskId> id = task.task_id ? TaskId::parse(*task.task_id) : std::nullopt;
  return id ? engine.storage().load(*id) : std::nullopt;
}

/// Whether the task killed worker after worker.
bool killed_its_workers(const std::optional<TaskData>& errand_task) {
  return errand_task && errand_task->error &&
         parse_exception_data(*errand_task->error).class_name == "errand::WorkerLost";
}

void fail(EmailProcessingTask& task, const std::optional<TaskData>& errand_task, bool retryable,
          Timestamp now) {
  if (task.status != EmailTaskStatus::processing) task.start_processing(now);
  ProcessingError error{.type = "WorkerLost",
                        .code = "worker_lost",
                        .message = "its Errand task ended without an outcome",
                        .retryable = retryable,
                        .step = "process",
                        .provider = "errand-invoices worker"};
  if (errand_task && errand_task->error) {
    const ExceptionData data = parse_exception_data(*errand_task->error);
    error.traceback = data.class_name + ": " + data.message;
    if (killed_its_workers(errand_task)) error.message = data.message;
  }
  task.fail_processing(error, now);
}

/// What became of it, for people.
std::string settle(Session& session, Engine& engine, EmailProcessingTask& task,
                   std::chrono::seconds retry_delay) {
  const std::optional<TaskData> errand_task = errand_task_of(engine, task);
  if (errand_task && errand_task->status == TaskStatus::cancelled) {
    task.cancel(session.now());
    update_task(session, task);
    return "is cancelled, as its Errand task was";
  }
  fail(task, errand_task, !killed_its_workers(errand_task), session.now());
  if (!task.can_retry()) {
    update_task(session, task);
    return "has failed: " + task.error_message.value_or("");
  }
  task.schedule_retry(session.now(), retry_delay);
  const NewTask request = make_request(task, retry_delay);
  update_task(session, task);
  session.submit(request);
  return "is tried again: " + task.error_message.value_or("");
}

}  // namespace

bool is_lost(Engine& engine, const EmailProcessingTask& task) {
  const bool waits = task.status == EmailTaskStatus::pending ||
                     task.status == EmailTaskStatus::processing ||
                     task.status == EmailTaskStatus::retrying;
  if (!waits) return false;
  const std::optional<TaskData> errand_task = errand_task_of(engine, task);
  return !errand_task || is_final(errand_task->status);
}

void fail_lost(EmailProcessingTask& task, Timestamp now) { fail(task, std::nullopt, true, now); }

std::size_t settle_lost_tasks(Database& database, Engine& engine, std::chrono::seconds retry_delay,
                              Logger& logger) {
  std::size_t settled = 0;
  for (const Profile& user : database.profiles()) {
    std::vector<EmailProcessingTask> open;
    database.read(user.user_id,
                  [&](Session& session) { open = open_tasks(session, kMostWaiting); });
    for (const EmailProcessingTask& seen : open) {
      if (!is_lost(engine, seen)) continue;
      try {
        std::string outcome;
        database.write(user.user_id, [&](Session& session) {
          // The version is the fence: whoever changed it since knows better.
          EmailProcessingTask task = seen;
          outcome = settle(session, engine, task, retry_delay);
        });
        logger.warning("task " + seen.id.text() + " was lost; it " + outcome);
        ++settled;
      } catch (const ConcurrentModificationException&) {
        continue;
      }
    }
  }
  return settled;
}

}  // namespace errand::invoices
