#include "http/submit_many.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "errand/errors.hpp"

#include "http/problem.hpp"
#include "http/task_view.hpp"

namespace errand::http {
namespace {

constexpr std::size_t kBatchTasks = 1000;

}  // namespace

Response submit_many(Engine& engine, const Request& request) {
  std::vector<RequestedTask> requested = requested_tasks(request);
  const Timestamp now = engine.now();
  std::vector<NewTask> tasks;
  tasks.reserve(requested.size());
  for (RequestedTask& each : requested) {
    delay_until_due(each, now);
    tasks.push_back(std::move(each.task));
  }
  for (std::size_t i = 0; i < tasks.size(); i += kBatchTasks) {
    try {
      engine.queue().submit(std::span{tasks}.subspan(i, std::min(kBatchTasks, tasks.size() - i)));
    } catch (const StorageException& error) {
      throw StorageException{fmt::format("{}; the first {} tasks are stored", error.what(), i),
                             error.retry()};
    }
  }
  std::string text = fmt::format(R"({{"submitted":{},"taskIds":[)", tasks.size());
  for (const NewTask& task : tasks) {
    if (text.back() != '[') text += ',';
    text += '"' + task.id.to_string() + '"';
  }
  return Response::json(text + "]}", 201);
}

std::optional<Response> already_submitted(Engine& engine, const RequestedTask& requested) {
  const NewTask& task = requested.task;
  const std::optional<TaskRecord> stored = engine.catalog().find(task.id);
  if (!stored) return std::nullopt;
  if (stored->type != task.envelope.type() || stored->data.payload != task.envelope.body()) {
    throw Problem{422, fmt::format("the id or Idempotency-Key was used before for another task, "
                                   "{}: its type or payload is another one",
                                   task.id.to_string())}
        .named("idempotency-key-reused");
  }
  return Response::json(
      submitted_json(task.id, stored->type, stored->queue.value_or(""), stored->data.status));
}

}  // namespace errand::http
