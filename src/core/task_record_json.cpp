#include <boost/json/monotonic_resource.hpp>

#include "errand/errors.hpp"
#include "errand/json.hpp"
#include "errand/task_catalog.hpp"

#include "core/json_text.hpp"
#include "core/task_json.hpp"

namespace errand {
namespace {

std::string progress_json(const Progress& progress) {
  std::string text;
  detail::JsonObjectText object{text};
  object.add_number("done", progress.done);
  object.add_number("total", progress.total);
  object.add_string("note", progress.note);
  object.close();
  return text;
}

std::string headers_json(const Headers& headers) {
  std::string text;
  detail::JsonObjectText object{text};
  for (const auto& [name, value] : headers) object.add_string(name, value);
  object.close();
  return text;
}

/// It goes into the middle of other JSON, so what is not an array stays out.
bool is_json_array(const std::string& text) {
  try {
    boost::json::monotonic_resource memory;
    return parse_json(text, {}, &memory).is_array();
  } catch (const ValidationException&) {
    return false;
  }
}

}  // namespace

std::string to_json(const TaskRecord& task) {
  std::string text;
  detail::JsonObjectText object{text};
  detail::add_task_members(object, task.data);
  if (!task.type.empty()) object.add_string("type", task.type);
  if (task.queue) object.add_string("queue", *task.queue);
  object.add_number("priority", task.priority);
  if (task.available_at) object.add_string("availableAt", to_iso8601(*task.available_at));
  object.add_number("attempts", task.attempts);
  object.add_number("maxRetries", task.retry.max_retries);
  object.add_number("crashes", task.crashes);
  if (task.data.version) object.add_number("version", *task.data.version);
  if (task.worker) object.add_string("worker", *task.worker);
  if (task.lease_expires_at) {
    object.add_string("leaseExpiresAt", to_iso8601(*task.lease_expires_at));
  }
  if (task.cancel_requested) object.add_json("cancelRequested", "true");
  if (task.expired) object.add_json("expired", "true");
  if (task.progress) object.add_json("progress", progress_json(*task.progress));
  if (!task.headers.empty()) object.add_json("headers", headers_json(task.headers));
  if (task.history && is_json_array(*task.history)) object.add_json("history", *task.history);
  object.close();
  return text;
}

}  // namespace errand
