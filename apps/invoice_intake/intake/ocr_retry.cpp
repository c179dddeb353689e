#include "invoice_intake/intake/ocr_retry.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/store/email_tasks.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

/// Of the attachments that a task failed at, by its result_data.
json::array failed_paths(const EmailProcessingTask& task) {
  json::array paths;
  const json::value result = parse_json(task.result_data);
  const json::object* document = result.if_object();
  const json::value* attachments =
      document != nullptr ? document->if_contains("attachments") : nullptr;
  if (attachments == nullptr || !attachments->is_array()) return paths;
  for (const json::value& attachment : attachments->get_array()) {
    const json::object* entry = attachment.if_object();
    const json::value* status = entry != nullptr ? entry->if_contains("status") : nullptr;
    const json::value* path = entry != nullptr ? entry->if_contains("path") : nullptr;
    if (status != nullptr && path != nullptr && *status == "failed") paths.push_back(*path);
  }
  return paths;
}

}  // namespace

std::optional<EmailProcessingTask> submit_ocr_retry(Session& session,
                                                    const EmailProcessingTask& done) {
  if (!done.is_completed() && !done.is_failed()) {
    throw ValidationException{"task " + done.id.text() + " is " +
                              std::string{to_string(done.status)} +
                              "; what it cannot read shows when it has ended"};
  }
  json::array paths = failed_paths(done);
  if (paths.empty()) return std::nullopt;
  EmailProcessingTask task{.user_id = done.user_id};
  task.task_type = TaskType::ocr_retry;
  task.email_message_id = done.email_message_id;
  task.email_from = done.email_from;
  task.email_subject = done.email_subject;
  task.email_received_at = done.email_received_at;
  task.attachments_count = static_cast<int>(paths.size());
  json::object data = parse_json(done.task_data).as_object();
  data["source_task_id"] = done.id.text();
  data["attachments"] = std::move(paths);
  task.task_data = json::serialize(data);
  task.metadata = done.metadata;
  const NewTask request = make_request(task);
  if (!insert_task(session, task)) {
    throw StorageException{"a new task has the id of another one", StorageException::Retry::helps};
  }
  session.submit(request);
  return task;
}

}  // namespace errand::invoices
