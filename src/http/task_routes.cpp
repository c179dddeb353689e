#include <fmt/format.h>

#include "errand/errors.hpp"

#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/task_view.hpp"

namespace errand::http {
namespace {

/// Documents may be large, and a page of them is in memory at once.
constexpr std::int64_t kMostWithDocuments = 100;
constexpr std::size_t kMostBytes = std::size_t{8} << 20;  ///< then the others come without them

std::string with_documents(TaskCatalog& catalog, const TaskRecord& task) {
  const std::optional<TaskRecord> whole = catalog.find(task.data.id);
  return to_json(whole ? *whole : task);
}

std::string cancelled_json(TaskId id, std::string_view outcome) {
  return fmt::format(R"({{"taskId":"{}","outcome":"{}"}})", id.to_string(), outcome);
}

Problem conflict(const TaskRecord& task, std::string_view rest) {
  const TaskStatus status = task.data.status;
  return Problem{
      409, fmt::format("task {} is {}: {}", task.data.id.to_string(), to_string(status), rest)}
      .of_task(status);
}

}  // namespace

Response list_tasks(const Call& call) {
  const Query query{call.request.target,
                    {"status", "type", "queue", "page", "page_size", "cursor", "documents"}};
  const bool documents = query.boolean("documents");
  const PageQuery page =
      documents ? PageQuery::of(query, kMostWithDocuments) : PageQuery::of(query);
  const TaskFilter filter = filter_of(query);
  TaskCatalog& catalog = call.service.engine.catalog();
  const std::int64_t total = call.service.totals.count(catalog, filter);
  const TaskPage found = catalog.list(filter, page.request(false));
  std::vector<std::string> items;
  std::size_t bytes = 0;
  for (const TaskRecord& task : found.items) {
    items.push_back(documents && bytes < kMostBytes ? with_documents(catalog, task)
                                                    : to_json(task));
    if (documents && bytes >= kMostBytes) {
      items.back().back() = ',';
      items.back() += R"("documentsLeftOut":true})";
    }
    bytes += items.back().size();
  }
  return Response::json(page_json(items, total, page, found.next));
}

Response get_task(const Call& call) {
  const Query none{call.request.target, {}};
  return Response::json(to_json(find_task(call.service.engine.catalog(), call.task_id())));
}

Response delete_task(const Call& call) {
  const Query none{call.request.target, {}};
  call.refuse_body();
  const TaskId id = call.task_id();
  Engine& engine = call.service.engine;
  if (engine.queue().discard({&id, 1}) == 0) {
    throw conflict(find_task(engine.catalog(), id),
                   "only tasks that have ended can be deleted; cancel it first");
  }
  return Response::empty(204);
}

Response cancel_task(const Call& call) {
  const Query none{call.request.target, {}};
  call.refuse_body();
  const TaskId id = call.task_id();
  Engine& engine = call.service.engine;
  switch (engine.queue().cancel({&id, 1}).front()) {
    case CancelStatus::cancelled:
      return Response::json(cancelled_json(id, "cancelled"));
    case CancelStatus::requested:
      return Response::json(cancelled_json(id, "requested"));
    case CancelStatus::already_final: {
      const TaskRecord task = find_task(engine.catalog(), id);
      if (task.data.status == TaskStatus::cancelled) {
        return Response::json(cancelled_json(id, "already_cancelled"));
      }
      throw conflict(task, "it cannot be cancelled any more");
    }
    case CancelStatus::not_found:
      break;
  }
  throw TaskNotFoundException{id};
}

Response retry_task(const Call& call) {
  const Query none{call.request.target, {}};
  call.refuse_body();
  return retry_chosen_task(call);
}

Response retry_chosen_task(const Call& call) {
  const TaskId id = call.task_id();
  Engine& engine = call.service.engine;
  const bool again = engine.queue().requeue({&id, 1}) == 1;
  const TaskRecord task = find_task(engine.catalog(), id);
  if (!again) throw conflict(task, "only failed and cancelled tasks can be run again");
  return Response::json(
      submitted_json(id, task.type, task.queue.value_or(""), TaskStatus::pending));
}

}  // namespace errand::http
