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

/// What a task read and what it could not, by its result_data.
struct Attachments {
  json::array failed{};     ///< paths
  json::array read{};       ///< paths
  bool all_reached = true;  ///< false: there is more than these
};

Attachments attachments_of(const EmailProcessingTask& task) {
  Attachments found;
  const json::value result = parse_json(task.result_data);
  const json::object* document = result.if_object();
  const json::value* attachments =
      document != nullptr ? document->if_contains("attachments") : nullptr;
  if (attachments == nullptr || !attachments->is_array() || attachments->get_array().empty()) {
    // It failed before it came to the first.
    found.all_reached = !task.is_failed();
    return found;
  }
  for (const json::value& attachment : attachments->get_array()) {
    const json::object* entry = attachment.if_object();
    const json::value* status = entry != nullptr ? entry->if_contains("status") : nullptr;
    const json::value* path = entry != nullptr ? entry->if_contains("path") : nullptr;
    if (status == nullptr || path == nullptr) continue;
    if (entry->contains("unreached")) {
      found.all_reached = false;
    } else {
      (*status == "failed" ? found.failed : found.read).push_back(*path);
    }
  }
  return found;
}

}  // namespace

std::optional<EmailProcessingTask> submit_ocr_retry(Session& session,
                                                    const EmailProcessingTask& done) {
  if (!done.is_completed() && !done.is_failed()) {
    throw ValidationException{"task " + done.id.text() + " is " +
                              std::string{to_string(done.status)} +
                              "; what it cannot read shows when it has ended"};
  }
  Attachments attachments = attachments_of(done);
  if (attachments.failed.empty() && attachments.all_reached) return std::nullopt;
  EmailProcessingTask task{.user_id = done.user_id};
  task.task_type = TaskType::ocr_retry;
  task.email_message_id = done.email_message_id;
  task.email_from = done.email_from;
  task.email_subject = done.email_subject;
  task.email_received_at = done.email_received_at;
  task.attachments_count = static_cast<int>(attachments.failed.size());
  json::object data = parse_json(done.task_data).as_object();
  data["source_task_id"] = done.id.text();
  if (attachments.all_reached) {
    data.erase("read_before");
    data["attachments"] = std::move(attachments.failed);
  } else {
    // Nobody knows the names of the rest.
    if (const json::value* before = data.if_contains("read_before")) {
      for (const json::value& path : before->as_array()) attachments.read.push_back(path);
    }
    data.erase("attachments");
    data["read_before"] = std::move(attachments.read);
  }
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
