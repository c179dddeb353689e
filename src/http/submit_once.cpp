#include "http/submit_once.hpp"

#include <fmt/format.h>
#include <unordered_map>
#include <vector>

#include "http/problem.hpp"

namespace errand::http {
namespace {

std::exception_ptr is_another_task(TaskId id) {
  return std::make_exception_ptr(
      Problem{422, fmt::format("the id or Idempotency-Key was used before for another task, {}: "
                               "its type or payload is another one",
                               id.to_string())}
          .named("idempotency-key-reused"));
}

/// Whether the stored task is the one that is asked for. Reads it whole, one at a time: documents
/// may be large.
bool is_the_same(Engine& engine, const NewTask& task) {
  const std::optional<TaskRecord> stored = engine.catalog().find(task.id);
  return stored && stored->type == task.envelope.type() &&
         stored->data.payload == task.envelope.body();
}

bool is_the_same(const NewTask& a, const NewTask& b) {
  return a.envelope.type() == b.envelope.type() && a.envelope.body() == b.envelope.body();
}

}  // namespace

void look_before(Engine& engine, std::span<Submission> submissions) {
  std::unordered_map<TaskId, Submission*> first;
  std::vector<TaskId> ids;
  for (Submission& submission : submissions) {
    if (!submission.requested.has_own_id || submission.error) continue;
    const NewTask& task = submission.requested.task;
    const auto [known, is_first] = first.try_emplace(task.id, &submission);
    if (is_first) {
      ids.push_back(task.id);
    } else if (is_the_same(known->second->requested.task, task)) {
      submission.before = {.queue = known->second->requested.task.queue,
                           .status = TaskStatus::pending};
    } else {
      submission.error = is_another_task(task.id);
    }
  }
  for (const TaskRecord& stored : engine.catalog().find_all(ids)) {
    Submission& submission = *first.at(stored.data.id);
    if (is_the_same(engine, submission.requested.task)) {
      submission.before = {.queue = stored.queue.value_or(""), .status = stored.data.status};
    } else {
      submission.error = is_another_task(stored.data.id);
    }
  }
}

void store_new(Engine& engine, std::span<Submission> submissions) {
  std::vector<NewTask> tasks;
  tasks.reserve(submissions.size());
  for (const Submission& submission : submissions) {
    if (submission.is_new()) tasks.push_back(submission.requested.task);
  }
  if (engine.queue().submit(tasks) == tasks.size()) return;
  for (Submission& submission : submissions) {
    const RequestedTask& requested = submission.requested;
    if (submission.is_new() && requested.has_own_id && !is_the_same(engine, requested.task)) {
      submission.error = is_another_task(requested.task.id);
    }
  }
}

}  // namespace errand::http
