#include "core/task_json.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/json_kind.hpp"
#include "core/utf8.hpp"

namespace errand {
namespace detail {

void add_task_members(JsonObjectText& object, const TaskData& task) {
  object.add_string("taskId", task.id.to_string());
  object.add_string("status", to_string(task.status));
  if (task.payload) object.add_string("payload", *task.payload);
  if (task.result) object.add_string("result", *task.result);
  if (task.error) object.add_string("error", *task.error);
  object.add_string("submittedAt", to_iso8601(task.submitted_at));
  if (task.started_at) object.add_string("startedAt", to_iso8601(*task.started_at));
  if (task.completed_at) object.add_string("completedAt", to_iso8601(*task.completed_at));
}

}  // namespace detail

namespace {

constexpr std::size_t kShown = 64;

[[noreturn]] void refuse_member(std::string_view name, const std::string& reason) {
  throw ValidationException{"task JSON: member \"" + std::string{name} + "\" " + reason};
}

/// Null counts as missing: other writers spell it out.
std::optional<std::string_view> find_string(const boost::json::object& object,
                                            std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_string()) {
    refuse_member(name, "must be a string, and is " + detail::kind_with_article(*value));
  }
  return std::string_view{value->get_string()};
}

std::string_view require_string(const boost::json::object& object, std::string_view name) {
  const std::optional<std::string_view> text = find_string(object, name);
  if (!text) refuse_member(name, "is missing");
  return *text;
}

std::optional<std::string> find_document(const boost::json::object& object, std::string_view name) {
  const std::optional<std::string_view> text = find_string(object, name);
  return text ? std::optional<std::string>{*text} : std::nullopt;
}

Timestamp parse_time(std::string_view name, std::string_view text) {
  const std::optional<Timestamp> time = parse_iso8601(text);
  if (!time) {
    refuse_member(name, "must be a time such as 2025-12-01T10:00:00Z, and is \"" +
                            detail::repair_and_cut_utf8(text, kShown) + "\"");
  }
  return *time;
}

std::optional<Timestamp> find_time(const boost::json::object& object, std::string_view name) {
  const std::optional<std::string_view> text = find_string(object, name);
  return text ? std::optional{parse_time(name, *text)} : std::nullopt;
}

TaskId parse_id(std::string_view text) {
  const std::optional<TaskId> id = TaskId::parse(text);
  if (!id) {
    refuse_member("taskId", "must be a UUID version 4, and is \"" +
                                detail::repair_and_cut_utf8(text, kShown) + "\"");
  }
  return *id;
}

TaskStatus parse_status(std::string_view text) {
  const std::optional<TaskStatus> status = parse_task_status(text);
  if (!status) {
    refuse_member("status",
                  "must be pending, running, retrying, completed, failed or cancelled, and is \"" +
                      detail::repair_and_cut_utf8(text, kShown) + "\"");
  }
  return *status;
}

}  // namespace

std::string to_json(const TaskData& task) {
  std::string text;
  detail::JsonObjectText object{text};
  detail::add_task_members(object, task);
  object.close();
  return text;
}

TaskData parse_task_data(std::string_view json) {
  // Room for three documents and for what their quotes cost.
  const JsonLimits limits{.max_bytes = 4 * kMaxDocumentBytes, .max_depth = JsonLimits{}.max_depth};
  boost::json::monotonic_resource memory;
  const boost::json::value value = parse_json(json, limits, &memory);
  const boost::json::object* object = value.if_object();
  if (object == nullptr) {
    throw ValidationException{"task JSON: expected an object, got " +
                              detail::kind_with_article(value)};
  }
  TaskData task{parse_id(require_string(*object, "taskId")),
                parse_status(require_string(*object, "status")),
                find_document(*object, "payload"),
                find_document(*object, "result"),
                find_document(*object, "error"),
                parse_time("submittedAt", require_string(*object, "submittedAt")),
                find_time(*object, "startedAt"),
                find_time(*object, "completedAt"),
                std::nullopt};
  validate(task);
  return task;
}

}  // namespace errand
