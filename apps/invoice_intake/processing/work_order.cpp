#include "invoice_intake/processing/work_order.hpp"

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

}  // namespace

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
    const json::value* paths = data.if_contains("attachments");
    if (paths == nullptr || !paths->is_array()) refuse(task, "attachments");
    order.only.emplace();
    for (const json::value& path : paths->get_array()) {
      if (path.is_string()) order.only->emplace_back(path.get_string());
    }
  }
  return order;
}

}  // namespace errand::invoices
