#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "errand/errors.hpp"
#include "errand/timestamp.hpp"

#include "invoice_intake/model/id.hpp"

namespace errand::invoices {

/// What a task is to do. Stored as the words of to_string(), which are also the types of the Errand
/// tasks that do it.
enum class TaskType : std::uint8_t {
  email_invoice,  ///< the attachments of one e-mail
  batch_import,   ///< files that came without an e-mail
  ocr_retry,      ///< what an earlier task could not read, with more time for it
};
inline constexpr std::array kAllTaskTypes{TaskType::email_invoice, TaskType::batch_import,
                                          TaskType::ocr_retry};

/// Where a task stands. Stored as the words of to_string().
enum class EmailTaskStatus : std::uint8_t {
  pending,     ///< waits for a worker
  processing,  ///< a worker is at it
  completed,   ///< done
  failed,      ///< see error_message; can_retry() says whether it may be tried again
  cancelled,   ///< nobody wants it any more
  retrying,    ///< waits for next_retry_at
};
inline constexpr std::array kAllEmailTaskStatuses{
    EmailTaskStatus::pending, EmailTaskStatus::processing, EmailTaskStatus::completed,
    EmailTaskStatus::failed,  EmailTaskStatus::cancelled,  EmailTaskStatus::retrying};

[[nodiscard]] std::string_view to_string(TaskType type) noexcept;
[[nodiscard]] std::string_view to_string(EmailTaskStatus status) noexcept;
[[nodiscard]] std::optional<TaskType> parse_task_type(std::string_view word) noexcept;
[[nodiscard]] std::optional<EmailTaskStatus> parse_email_task_status(
    std::string_view word) noexcept;

inline constexpr std::chrono::seconds kRetryDelay{300};
inline constexpr int kMaxRetries = 3;

/// What a task's status does not allow.
class NotPossible : public ValidationException {
 public:
  using ValidationException::ValidationException;
};

/// Why processing failed.
struct ProcessingError {
  std::string type{};       ///< "LimitError"
  std::string code{};       ///< "time_limit"
  std::string message{};    ///< for people
  bool retryable = true;    ///< whether another attempt may do better
  std::string traceback{};  ///< what led to it, a line each
  std::string file{};       ///< the attachment, if it is about one
  std::string step{};       ///< "extract", "store", "process"
  std::string provider{};   ///< who failed: "errand-invoice-extractor", "storage", …
};

/// The JSON of error_details: error_type, error_code, error_message, retryable, traceback, context
/// (file, step, provider), timestamp.
[[nodiscard]] std::string error_details_json(const ProcessingError& error, Timestamp now);

/// An e-mail on its way to invoices: one row of email_processing_tasks.
///
/// `task_data`, `result_data`, `error_details` and `metadata` are JSON objects, kept as text. The
/// verbs throw NotPossible, and change nothing, where the status does not allow them:
///
///     start_processing     pending, retrying; processing again, after its worker was lost
///     complete_processing  processing
///     fail_processing      processing
///     schedule_retry       failed, if can_retry()
///     cancel               all but completed and cancelled
struct EmailProcessingTask {
  EmailTaskId id = EmailTaskId::generate();
  UserId user_id;
  TaskType task_type = TaskType::email_invoice;
  std::optional<std::string> task_id{};  ///< the Errand task
  EmailTaskStatus status = EmailTaskStatus::pending;
  std::string task_data = "{}";
  std::string result_data = "{}";

  std::optional<std::string> error_message{};
  std::optional<std::string> error_details{};
  int retry_count = 0;
  int max_retries = kMaxRetries;
  std::optional<Timestamp> next_retry_at{};

  std::optional<std::string> email_message_id{};
  std::optional<std::string> email_from{};
  std::optional<std::string> email_subject{};
  std::optional<Timestamp> email_received_at{};

  int attachments_count = 0;
  int processed_count = 0;
  int failed_count = 0;
  int invoices_created = 0;

  std::optional<Timestamp> started_at{};
  std::optional<Timestamp> completed_at{};
  std::optional<std::chrono::milliseconds> processing_time{};

  std::string metadata = "{}";
  Timestamp created_at{};
  Timestamp updated_at{};
  std::optional<Timestamp> deleted_at{};
  std::optional<std::string> created_by{};
  std::optional<std::string> updated_by{};
  int version = 1;

  [[nodiscard]] bool is_completed() const noexcept { return status == EmailTaskStatus::completed; }
  [[nodiscard]] bool is_failed() const noexcept { return status == EmailTaskStatus::failed; }
  [[nodiscard]] bool can_retry() const noexcept { return is_failed() && retry_count < max_retries; }

  /// Of what was processed; nullopt if nothing was.
  [[nodiscard]] std::optional<double> success_rate() const noexcept;

  void start_processing(Timestamp now, std::optional<std::string> errand_task = std::nullopt);

  /// `result` is a JSON object; its `summary` becomes the statistics.
  void complete_processing(std::string result, Timestamp now);

  /// After an error that no attempt can mend, max_retries becomes retry_count: there is nothing to
  /// wait for, and whoever looks for tasks that need a person finds it.
  void fail_processing(const ProcessingError& error, Timestamp now);

  void schedule_retry(Timestamp now, std::chrono::seconds delay = kRetryDelay);
  void cancel(Timestamp now);

  /// Adds the id to result_data's `invoices`; invoices_created follows.
  void add_invoice(const InvoiceId& invoice);

 private:
  void end(EmailTaskStatus final_status, Timestamp now);
};

}  // namespace errand::invoices
