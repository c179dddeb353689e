#include "invoice_intake/model/email_task.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

template <class Enum, std::size_t N>
std::optional<Enum> parse_word(const std::array<Enum, N>& all, std::string_view word) noexcept {
  for (const Enum value : all) {
    if (to_string(value) == word) return value;
  }
  return std::nullopt;
}

json::object object_of(const std::string& text, const char* what) {
  json::value value = parse_json(text);
  if (!value.is_object()) throw ValidationException{std::string{what} + " must be a JSON object"};
  return std::move(value.as_object());
}

int count_in(const json::object& summary, const char* name) {
  const json::value* count = summary.if_contains(name);
  return count != nullptr && count->is_int64() ? static_cast<int>(count->as_int64()) : 0;
}

[[noreturn]] void refuse(const EmailProcessingTask& task, const char* verb) {
  throw NotPossible{"task " + task.id.text() + " cannot " + verb + ": it is " +
                    std::string{to_string(task.status)}};
}

}  // namespace

std::string_view to_string(TaskType type) noexcept {
  switch (type) {
    case TaskType::email_invoice:
      return "email_invoice";
    case TaskType::batch_import:
      return "batch_import";
    case TaskType::ocr_retry:
      return "ocr_retry";
  }
  return "email_invoice";
}

std::string_view to_string(EmailTaskStatus status) noexcept {
  switch (status) {
    case EmailTaskStatus::pending:
      return "pending";
    case EmailTaskStatus::processing:
      return "processing";
    case EmailTaskStatus::completed:
      return "completed";
    case EmailTaskStatus::failed:
      return "failed";
    case EmailTaskStatus::cancelled:
      return "cancelled";
    case EmailTaskStatus::retrying:
      return "retrying";
  }
  return "pending";
}

std::optional<TaskType> parse_task_type(std::string_view word) noexcept {
  return parse_word(kAllTaskTypes, word);
}

std::optional<EmailTaskStatus> parse_email_task_status(std::string_view word) noexcept {
  return parse_word(kAllEmailTaskStatuses, word);
}

std::string error_details_json(const ProcessingError& error, Timestamp now) {
  json::object context;
  if (!error.file.empty()) context["file"] = error.file;
  if (!error.step.empty()) context["step"] = error.step;
  if (!error.provider.empty()) context["provider"] = error.provider;
  return json::serialize(json::object{
      {"error_type", error.type},
      {"error_code", error.code},
      {"error_message", error.message},
      {"retryable", error.retryable},
      {"traceback", error.traceback},
      {"context", std::move(context)},
      {"timestamp", to_iso8601(now)},
  });
}

std::optional<double> EmailProcessingTask::success_rate() const noexcept {
  if (processed_count == 0) return std::nullopt;
  return static_cast<double>(processed_count - failed_count) / processed_count;
}

void EmailProcessingTask::start_processing(Timestamp now, std::optional<std::string> errand_task) {
  if (status != EmailTaskStatus::pending && status != EmailTaskStatus::retrying &&
      status != EmailTaskStatus::processing) {
    refuse(*this, "be started");
  }
  status = EmailTaskStatus::processing;
  started_at = now;
  completed_at.reset();
  processing_time.reset();
  next_retry_at.reset();
  if (errand_task) task_id = std::move(errand_task);
}

void EmailProcessingTask::end(EmailTaskStatus final_status, Timestamp now) {
  status = final_status;
  completed_at = now;
  if (started_at) {
    // The clock may have gone back meanwhile.
    processing_time = std::max(std::chrono::milliseconds{0},
                               std::chrono::floor<std::chrono::milliseconds>(now - *started_at));
  }
}

void EmailProcessingTask::complete_processing(std::string result, Timestamp now) {
  if (status != EmailTaskStatus::processing) refuse(*this, "be completed");
  const json::object document = object_of(result, "the result");
  json::object summary;
  if (const json::value* member = document.if_contains("summary");
      member != nullptr && member->is_object()) {
    summary = member->as_object();
  }
  end(EmailTaskStatus::completed, now);
  result_data = std::move(result);
  processed_count = count_in(summary, "processed");
  failed_count = count_in(summary, "failed");
  invoices_created = count_in(summary, "invoices_created");
  error_message.reset();
  error_details.reset();
}

void EmailProcessingTask::fail_processing(const ProcessingError& error, Timestamp now) {
  if (status != EmailTaskStatus::processing) refuse(*this, "fail");
  end(EmailTaskStatus::failed, now);
  error_message = error.message;
  error_details = error_details_json(error, now);
  if (!error.retryable) max_retries = retry_count;
}

void EmailProcessingTask::schedule_retry(Timestamp now, std::chrono::seconds delay) {
  if (!is_failed()) refuse(*this, "be retried");
  if (!can_retry()) {
    throw NotPossible{"task " + id.text() + " cannot be retried: " + std::to_string(retry_count) +
                      " of " + std::to_string(max_retries) + " retries are used up"};
  }
  ++retry_count;
  status = EmailTaskStatus::retrying;
  next_retry_at = now + delay;
}

void EmailProcessingTask::cancel(Timestamp now) {
  if (status == EmailTaskStatus::completed || status == EmailTaskStatus::cancelled) {
    refuse(*this, "be cancelled");
  }
  status = EmailTaskStatus::cancelled;
  completed_at = now;
  next_retry_at.reset();
}

void EmailProcessingTask::add_invoice(const InvoiceId& invoice) {
  json::object document = object_of(result_data, "result_data");
  json::value& invoices = document["invoices"];
  if (!invoices.is_array()) invoices = json::array{};
  invoices.as_array().push_back(json::object{{"id", invoice.text()}});
  invoices_created = static_cast<int>(invoices.as_array().size());
  result_data = json::serialize(document);
}

}  // namespace errand::invoices
