#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <functional>
#include <unordered_map>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"

#include "app/found_tasks.hpp"
#include "core/json_text.hpp"
#include "http/failed_choice.hpp"
#include "http/failed_messages.hpp"
#include "http/failure_groups.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/task_view.hpp"

/// Tasks that failed; failed_message_routes.cpp has the messages.
namespace errand::http {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMostLookedAt = 10'000;
constexpr std::size_t kBatch = 1000;
constexpr std::int64_t kBatchWithErrors = 200;  ///< errors have traces
constexpr std::int64_t kMostOnPage = 200;       ///< each is read with its error

ExceptionData error_of(const TaskRecord& task) {
  return parse_exception_data(task.data.error.value_or(""));
}

std::string item_json(TaskRecord task) {
  const ExceptionData error = error_of(task);
  task.data.payload.reset();
  task.data.error.reset();
  task.history.reset();
  std::string text = errand::to_json(task);
  text.back() = ',';
  text += R"("kind":"task","errorClass":)";
  detail::append_json_string(text, error.class_name);
  text += R"(,"errorMessage":)";
  detail::append_json_string(text, short_message(error));
  return text + "}";
}

/// The newest failures, one by one, at most kMostLookedAt. Returns how many there were.
std::int64_t look_at_newest(TaskCatalog& catalog, const FailureFilter& filter,
                            const std::function<void(TaskRecord&)>& look) {
  PageRequest request{
      .page = 1, .page_size = kBatchWithErrors, .documents = false, .errors = true, .count = false};
  std::int64_t looked = 0;
  while (looked < kMostLookedAt) {
    TaskPage page = catalog.list(filter.tasks, request);
    for (TaskRecord& task : page.items) look(task);
    looked += std::ssize(page.items);
    if (!page.next) break;
    request.after = page.next;
  }
  return looked;
}

Response list_by_looking(const Call& call, const FailureFilter& filter, const PageQuery& page) {
  std::vector<std::string> items;
  std::int64_t total = 0;
  TaskCatalog& catalog = call.service.engine.catalog();
  const std::int64_t looked = look_at_newest(catalog, filter, [&](TaskRecord& task) {
    if (!filter.chooses(error_of(task))) return;
    if (total / page.page_size == page.page - 1) items.push_back(item_json(std::move(task)));
    ++total;
  });
  std::string text = page_json(items, total, page, std::nullopt);
  text.back() = ',';
  const bool truncated = looked < call.service.totals.count(catalog, filter.tasks);
  return Response::json(fmt::format(R"({}"looked":{},"truncated":{}}})", text, looked, truncated));
}

TaskRecord find_failed(const Call& call) {
  TaskRecord task = find_task(call.service.engine.catalog(), call.task_id());
  if (task.data.status != TaskStatus::failed) {
    throw Problem{409, fmt::format("task {} is {}, not failed", task.data.id.to_string(),
                                   to_string(task.data.status))}
        .of_task(task.data.status);
  }
  return task;
}

struct Named {
  std::vector<TaskId> failed{};
  json::array skipped{};  ///< with the reason of each
};

/// Cancelled tasks can be requeued and discarded as well, and may be named: they are left alone.
Named failed_among(TaskCatalog& catalog, std::span<const TaskId> ids) {
  std::unordered_map<TaskId, TaskStatus> statuses;
  for (std::size_t i = 0; i < ids.size(); i += kBatch) {
    for (const TaskRecord& task :
         catalog.find_all(ids.subspan(i, std::min(kBatch, ids.size() - i)))) {
      statuses.emplace(task.data.id, task.data.status);
    }
  }
  Named named;
  for (const TaskId id : ids) {
    const auto known = statuses.find(id);
    if (known != statuses.end() && known->second == TaskStatus::failed) {
      named.failed.push_back(id);
    } else {
      named.skipped.push_back(json::object{
          {"taskId", id.to_string()},
          {"reason", known == statuses.end() ? "not found" : to_string(known->second)}});
    }
  }
  return named;
}

using Apply = std::function<std::size_t(std::span<const TaskId>)>;

Response change_failed(const Call& call, const FailedChoice& choice, std::string_view done,
                       const Apply& apply) {
  TaskCatalog& catalog = call.service.engine.catalog();
  std::size_t changed = 0;
  json::object answer;
  if (!choice.task_ids.empty()) {
    Named named = failed_among(catalog, choice.task_ids);
    answer["skipped"] = std::move(named.skipped);
    const std::vector<TaskId>& ids = named.failed;
    for (std::size_t i = 0; i < ids.size(); i += kBatch) {
      changed += apply(std::span{ids}.subspan(i, std::min(kBatch, ids.size() - i)));
    }
  } else {
    detail::ChangeOfFound change;
    if (choice.filter.looks_inside()) {
      change.only = [&](const TaskRecord& task) { return choice.filter.chooses(error_of(task)); };
    }
    change.apply = [&](std::span<const TaskId> ids) { changed += apply(ids); };
    detail::change_found(catalog, choice.filter.tasks, change);
  }
  answer[done] = changed;
  return Response::json(json::serialize(answer));
}

/// Tasks are in no transport: whoever names one has forgotten the kind.
void refuse_transport(const Query& query) {
  for (const char* name : {"transport", "to"}) {
    if (query.text(name)) {
      throw Problem{400, fmt::format("'{}' is for messages: say kind=message", name)}.of_parameter(
          name);
    }
  }
}

}  // namespace

Response list_failed(const Call& call) {
  const Query query{
      call.request.target,
      {"kind", "transport", "type", "queue", "class", "pattern", "page", "page_size", "cursor"}};
  if (kind_of(query) == FailureKind::message) return list_failed_messages(call, query);
  refuse_transport(query);
  const PageQuery page = PageQuery::of(query, kMostOnPage);
  const FailureFilter filter = FailureFilter::of(query);
  if (filter.looks_inside()) return list_by_looking(call, filter, page);
  TaskCatalog& catalog = call.service.engine.catalog();
  const std::int64_t total = call.service.totals.count(catalog, filter.tasks);
  PageRequest wanted = page.request(false);
  wanted.errors = true;
  TaskPage found = catalog.list(filter.tasks, wanted);
  std::vector<std::string> items;
  for (TaskRecord& task : found.items) items.push_back(item_json(std::move(task)));
  return Response::json(page_json(items, total, page, found.next));
}

Response group_failed(const Call& call) {
  const Query query{call.request.target,
                    {"kind", "transport", "type", "queue", "class", "pattern"}};
  if (kind_of(query) == FailureKind::message) return group_failed_messages(call, query);
  refuse_transport(query);
  const FailureFilter filter = FailureFilter::of(query);
  FailureGroups groups{FailureGroups::Order::newest_first};
  TaskCatalog& catalog = call.service.engine.catalog();
  const std::int64_t looked = look_at_newest(catalog, filter, [&](TaskRecord& task) {
    const ExceptionData error = error_of(task);
    if (!filter.chooses(error)) return;
    groups.add({.type = task.type,
                .error_class = error.class_name,
                .message = short_message(error),
                .at = task.data.completed_at.value_or(task.data.submitted_at),
                .id = task.data.id.to_string()});
  });
  return Response::json(
      groups.to_json("taskId", looked, call.service.totals.count(catalog, filter.tasks)));
}

Response get_failed(const Call& call) {
  const Query query{call.request.target, {"kind", "transport"}};
  if (kind_of(query) == FailureKind::message) return get_failed_message(call, query);
  refuse_transport(query);
  const TaskRecord task = find_failed(call);
  return Response::json(fmt::format(R"({{"kind":"task","task":{},"error":{}}})",
                                    errand::to_json(task), errand::to_json(error_of(task))));
}

Response delete_failed(const Call& call) {
  const Query query{call.request.target, {"kind", "transport"}};
  call.refuse_body();
  if (kind_of(query) == FailureKind::message) return delete_failed_message(call, query);
  refuse_transport(query);
  const TaskId id = find_failed(call).data.id;
  if (call.service.engine.queue().discard({&id, 1}) == 0) throw TaskNotFoundException{id};
  return Response::empty(204);
}

Response retry_one_failed(const Call& call) {
  const Query query{call.request.target, {"kind", "transport", "to"}};
  call.refuse_body();
  if (kind_of(query) == FailureKind::message) return retry_failed_message(call, query);
  refuse_transport(query);
  static_cast<void>(find_failed(call));
  return retry_chosen_task(call);
}

Response retry_failed(const Call& call) {
  const Query none{call.request.target, {}};
  const FailedChoice choice = FailedChoice::of(call.request);
  if (choice.kind == FailureKind::message) return retry_failed_messages(call, choice);
  return change_failed(call, choice, "retried", [&](std::span<const TaskId> ids) {
    return call.service.engine.queue().requeue(ids);
  });
}

Response remove_failed(const Call& call) {
  const Query none{call.request.target, {}};
  const FailedChoice choice = FailedChoice::of(call.request);
  if (choice.kind == FailureKind::message) return remove_failed_messages(call, choice);
  return change_failed(call, choice, "removed", [&](std::span<const TaskId> ids) {
    return call.service.engine.queue().discard(ids);
  });
}

}  // namespace errand::http
