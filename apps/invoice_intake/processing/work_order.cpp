#include "invoice_intake/processing/work_order.hpp"

#include <algorithm>
#include <boost/json/value.hpp>

#include "errand/errors.hpp"
#include "errand/json.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

[[noreturn]] void refuse(const EmailProcessingTask& task, const char* what) {
  throw ValidationException{"task_data of " + task.id.text() + " has no " + what};
}

std::string text_of(const json::object& object, const char* name, const EmailProcessingTask& task) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) refuse(task, name);
  return std::string{value->get_string()};
}

std::vector<std::string> texts_of(const json::value& list, const char* name,
                                  const EmailProcessingTask& task) {
  if (!list.is_array()) refuse(task, name);
  std::vector<std::string> texts;
  for (const json::value& text : list.get_array()) {
    if (text.is_string()) texts.emplace_back(text.get_string());
  }
  return texts;
}

}  // namespace

bool WorkOrder::wants(const std::string& path) const {
  if (std::ranges::find(except, path) != except.end()) return false;
  return !only || std::ranges::find(*only, path) != only->end();
}

WorkOrder read_work_order(const EmailProcessingTask& task) {
  const json::value document = parse_json(task.task_data);
  if (!document.is_object()) refuse(task, "members");
  const json::object& data = document.get_object();
  WorkOrder order;
  if (const json::value* files = data.if_contains("files"); files != nullptr && files->is_array()) {
    for (const json::value& file : files->get_array()) {
      if (!file.is_object()) refuse(task, "files");
      order.inputs.push_back({.sha256 = text_of(file.get_object(), "original", task),
                              .kind = InputKind::file,
                              .name = text_of(file.get_object(), "filename", task)});
    }
  } else {
    order.inputs.push_back({.sha256 = text_of(data, "original", task)});
  }
  if (task.task_type == TaskType::ocr_retry) {
    if (const json::value* read = data.if_contains("read_before"); read != nullptr) {
      order.except = texts_of(*read, "read_before", task);
    } else if (const json::value* paths = data.if_contains("attachments"); paths != nullptr) {
      order.only = texts_of(*paths, "attachments", task);
    } else {
      refuse(task, "attachments");
    }
  }
  return order;
}

}  // namespace errand::invoices
