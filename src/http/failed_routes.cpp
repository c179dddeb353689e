#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <tuple>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"
#include "errand/json.hpp"

#include "app/found_tasks.hpp"
#include "core/json_text.hpp"
#include "core/utf8.hpp"
#include "http/error_pattern.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/task_view.hpp"

/// Tasks that failed. `kind` tells them from whatever else may fail one day.
namespace errand::http {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMostLookedAt = 10'000;
constexpr std::size_t kMostIds = 10'000;
constexpr std::size_t kBatch = 1000;
constexpr std::size_t kLongestMessage = 500;
constexpr std::int64_t kMostOnPage = 200;  ///< each is read with its documents

ExceptionData error_of(const TaskRecord& task) {
  return parse_exception_data(task.data.error.value_or(""));
}

std::string short_message(const ExceptionData& error) {
  return detail::repair_and_cut_utf8(error.message, kLongestMessage);
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

struct FailureFilter {
  TaskFilter tasks{{TaskStatus::failed}, {}, {}};
  std::optional<std::string> error_class{};
  std::optional<std::string> pattern{};  ///< of the message: what a group has in common

  static FailureFilter of(const Query& query) {
    FailureFilter filter;
    filter.tasks.type = query.text("type");
    filter.tasks.queue = query.text("queue");
    filter.error_class = query.text("class");
    filter.pattern = query.text("pattern");
    return filter;
  }

  /// What it asks for is inside the error, and no storage has an index of that.
  [[nodiscard]] bool looks_inside() const { return error_class || pattern; }

  [[nodiscard]] bool chooses(const TaskRecord& task) const {
    if (!looks_inside()) return true;
    const ExceptionData error = error_of(task);
    return (!error_class || error.class_name == *error_class) &&
           (!pattern || error_pattern(short_message(error)) == *pattern);
  }
};

/// The newest failures, one by one, at most kMostLookedAt. Returns how many there were.
std::int64_t look_at_newest(TaskCatalog& catalog, const FailureFilter& filter,
                            const std::function<void(TaskRecord&)>& look) {
  PageRequest request{.page = 1, .page_size = kBatch, .documents = true, .count = false};
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
  look_at_newest(call.service.engine.catalog(), filter, [&](TaskRecord& task) {
    if (!filter.chooses(task)) return;
    if (total / page.page_size == page.page - 1) items.push_back(item_json(std::move(task)));
    ++total;
  });
  return Response::json(page_json(items, total, page, std::nullopt));
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

/// Which failures to change, as the body says.
struct Choice {
  std::vector<TaskId> ids{};
  FailureFilter filter{};
};

Problem bad_choice(std::string_view name, const std::string& detail) {
  return Problem{422, detail}.at_pointer("/" + std::string{name});
}

std::vector<TaskId> ids_of(const json::value& value) {
  if (!value.is_array() || value.get_array().empty() || value.get_array().size() > kMostIds) {
    throw bad_choice("taskIds", "'taskIds' must be an array of 1 to 10,000 ids");
  }
  std::vector<TaskId> ids;
  for (const json::value& item : value.get_array()) {
    const auto id = item.is_string() ? TaskId::parse(item.get_string()) : std::nullopt;
    if (!id) {
      throw bad_choice(fmt::format("taskIds/{}", ids.size()),
                       "'taskIds' must hold UUIDs of version 4 only");
    }
    ids.push_back(*id);
  }
  return ids;
}

Choice choice_of(const Request& request) {
  if (media_type(request.headers.content_type) != "application/json") {
    throw Problem{415, "send application/json"}.with_header("Accept-Post", "application/json");
  }
  json::value body;
  try {
    body = parse_json(request.body);
  } catch (const ValidationException& error) {
    throw Problem{400, error.what()};
  }
  constexpr const char* kForms =
      R"(send {"taskIds":[…]}, a filter of type, queue, class and pattern, or {"all":true})";
  if (!body.is_object()) throw Problem{422, kForms}.at_pointer("");
  Choice choice;
  bool by_id = false;
  bool by_filter = false;
  bool all = false;
  for (const json::key_value_pair& member : body.get_object()) {
    const std::string_view name = member.key();
    const json::value& value = member.value();
    if (name == "taskIds") {
      choice.ids = ids_of(value);
      by_id = true;
    } else if (name == "all") {
      if (value != json::value(true)) throw bad_choice(name, "'all' must be true, or left out");
      all = true;
    } else if (name == "pattern") {
      // An error without a message has an empty one.
      if (!value.is_string()) throw bad_choice(name, "'pattern' must be a string");
      choice.filter.pattern = std::string{value.get_string()};
      by_filter = true;
    } else if (name == "type" || name == "queue" || name == "class") {
      if (!value.is_string() || value.get_string().empty()) {
        throw bad_choice(name, fmt::format("'{}' must be a string that is not empty", name));
      }
      std::optional<std::string>& part = name == "type"    ? choice.filter.tasks.type
                                         : name == "queue" ? choice.filter.tasks.queue
                                                           : choice.filter.error_class;
      part = std::string{value.get_string()};
      by_filter = true;
    } else {
      throw bad_choice(detail::repair_and_cut_utf8(name, 64), kForms);
    }
  }
  // "Everything" must be said: an empty filter is likelier to be a mistake.
  if (static_cast<int>(by_id) + static_cast<int>(by_filter) + static_cast<int>(all) != 1) {
    throw Problem{422, kForms}.at_pointer("");
  }
  return choice;
}

/// Cancelled tasks can be requeued and discarded as well, and may be named: they are left alone.
std::vector<TaskId> failed_among(TaskCatalog& catalog, std::span<const TaskId> ids) {
  std::vector<TaskId> failed;
  for (const TaskId id : ids) {
    const std::optional<TaskRecord> task = catalog.find(id);
    if (task && task->data.status == TaskStatus::failed) failed.push_back(id);
  }
  return failed;
}

using Apply = std::function<std::size_t(std::span<const TaskId>)>;

Response change_failed(const Call& call, std::string_view done, const Apply& apply) {
  const Query none{call.request.target, {}};
  const Choice choice = choice_of(call.request);
  TaskCatalog& catalog = call.service.engine.catalog();
  std::size_t changed = 0;
  if (!choice.ids.empty()) {
    const std::vector<TaskId> ids = failed_among(catalog, choice.ids);
    for (std::size_t i = 0; i < ids.size(); i += kBatch) {
      changed += apply(std::span{ids}.subspan(i, std::min(kBatch, ids.size() - i)));
    }
  } else {
    detail::ChangeOfFound change;
    if (choice.filter.looks_inside()) {
      change.only = [&](const TaskRecord& task) { return choice.filter.chooses(task); };
    }
    change.apply = [&](std::span<const TaskId> ids) { changed += apply(ids); };
    detail::change_found(catalog, choice.filter.tasks, change);
  }
  return Response::json(json::serialize(json::object{{done, changed}}));
}

/// Failures of one kind.
struct FailureGroup {
  std::int64_t count = 0;
  Timestamp last{};
  TaskId newest;
  std::string message;
};

}  // namespace

Response list_failed(const Call& call) {
  const Query query{call.request.target,
                    {"type", "queue", "class", "pattern", "page", "page_size", "cursor"}};
  const PageQuery page = PageQuery::of(query, kMostOnPage);
  const FailureFilter filter = FailureFilter::of(query);
  if (filter.looks_inside()) return list_by_looking(call, filter, page);
  TaskCatalog& catalog = call.service.engine.catalog();
  const std::int64_t total = call.service.totals.count(catalog, filter.tasks);
  TaskPage found = catalog.list(filter.tasks, page.request(true));
  std::vector<std::string> items;
  for (TaskRecord& task : found.items) items.push_back(item_json(std::move(task)));
  return Response::json(page_json(items, total, page, found.next));
}

Response group_failed(const Call& call) {
  const Query query{call.request.target, {"type", "queue", "class", "pattern"}};
  const FailureFilter filter = FailureFilter::of(query);
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, FailureGroup> groups;
  TaskCatalog& catalog = call.service.engine.catalog();
  const std::int64_t looked = look_at_newest(catalog, filter, [&](TaskRecord& task) {
    if (!filter.chooses(task)) return;
    const ExceptionData error = error_of(task);
    std::string message = short_message(error);
    const auto at = task.data.completed_at.value_or(task.data.submitted_at);
    const auto [group, is_new] =
        groups.try_emplace(Key{task.type, error.class_name, error_pattern(message)},
                           FailureGroup{.newest = task.data.id, .message = message});
    ++group->second.count;
    if (is_new || at > group->second.last) {
      group->second.last = at;
      group->second.newest = task.data.id;
      group->second.message = std::move(message);
    }
  });
  std::vector<std::pair<const Key*, const FailureGroup*>> sorted;
  for (const auto& [key, group] : groups) sorted.emplace_back(&key, &group);
  std::ranges::stable_sort(sorted, std::greater{},
                           [](const auto& entry) { return entry.second->count; });
  json::array items;
  for (const auto& [key, group] : sorted) {
    items.push_back(json::object{{"type", std::get<0>(*key)},
                                 {"class", std::get<1>(*key)},
                                 {"pattern", std::get<2>(*key)},
                                 {"message", group->message},
                                 {"count", group->count},
                                 {"lastFailedAt", to_iso8601(group->last)},
                                 {"taskId", group->newest.to_string()}});
  }
  return Response::json(
      json::serialize(json::object{{"items", std::move(items)},
                                   {"looked", looked},
                                   {"total", call.service.totals.count(catalog, filter.tasks)}}));
}

Response get_failed(const Call& call) {
  const Query none{call.request.target, {}};
  const TaskRecord task = find_failed(call);
  return Response::json(fmt::format(R"({{"kind":"task","task":{},"error":{}}})",
                                    errand::to_json(task), errand::to_json(error_of(task))));
}

Response delete_failed(const Call& call) {
  const Query none{call.request.target, {}};
  call.refuse_body();
  const TaskId id = find_failed(call).data.id;
  if (call.service.engine.queue().discard({&id, 1}) == 0) throw TaskNotFoundException{id};
  return Response::empty(204);
}

Response retry_one_failed(const Call& call) {
  const Query none{call.request.target, {}};
  static_cast<void>(find_failed(call));
  return retry_task(call);
}

Response retry_failed(const Call& call) {
  return change_failed(call, "retried", [&](std::span<const TaskId> ids) {
    return call.service.engine.queue().requeue(ids);
  });
}

Response remove_failed(const Call& call) {
  return change_failed(call, "removed", [&](std::span<const TaskId> ids) {
    return call.service.engine.queue().discard(ids);
  });
}

}  // namespace errand::http
