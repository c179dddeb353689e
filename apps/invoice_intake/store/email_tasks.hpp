#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "invoice_intake/model/email_task.hpp"
#include "invoice_intake/store/database.hpp"

/// The rows of email_processing_tasks, in a session of their user.
namespace errand::invoices {

/// Which tasks; members without a value do not filter. Deleted tasks are left out unless asked for.
struct EmailTaskFilter {
  std::vector<EmailTaskStatus> statuses{};
  std::optional<TaskType> type{};
  std::string subject{};                           ///< a part of it, in any case
  std::optional<Timestamp> created_from{};         ///< this moment or later
  std::optional<Timestamp> created_before{};       ///< before this moment
  std::optional<Timestamp> active_since{};         ///< changed at or after this moment
  std::optional<std::string> data_contains{};      ///< JSON that task_data must contain
  std::optional<std::string> metadata_contains{};  ///< JSON that metadata must contain
  bool can_retry = false;                          ///< failed, with retries left
  bool with_failures = false;                      ///< at least one attachment could not be read
  bool deleted = false;                            ///< the deleted ones instead of the others
};

struct EmailTaskPage {
  std::vector<EmailProcessingTask> items{};
  std::int64_t total = 0;
  std::int64_t page = 1;
  std::int64_t page_size = 20;
  [[nodiscard]] std::int64_t total_pages() const { return (total + page_size - 1) / page_size; }
};

/// Stores a new task; created_at and updated_at become the session's time. False, and nothing is
/// stored, if the user has a task for that e-mail already.
[[nodiscard]] bool insert_task(Session& session, EmailProcessingTask& task);

/// Also deleted ones; nullopt if the user has none of that id.
[[nodiscard]] std::optional<EmailProcessingTask> find_task(Session& session, const EmailTaskId& id);

/// The task for an e-mail, also a deleted one.
[[nodiscard]] std::optional<EmailProcessingTask> find_task_of_message(
    Session& session, const std::string& message_id);

/// Stores what the verbs changed, if the row still has the version that was loaded; raises it.
/// Throws ConcurrentModificationException if it has another, or the row is gone.
void update_task(Session& session, EmailProcessingTask& task);

/// The newest first. `page` counts from 1.
[[nodiscard]] EmailTaskPage list_tasks(Session& session, const EmailTaskFilter& filter,
                                       std::int64_t page, std::int64_t page_size);

/// All of them, also deleted ones, in the order of their ids: those behind `last`, at most `limit`.
[[nodiscard]] std::vector<EmailProcessingTask> tasks_after(Session& session,
                                                           const std::optional<EmailTaskId>& last,
                                                           std::int64_t limit);

/// Soft: the row stays, and restore_task() brings it back. Throw ConcurrentModificationException.
void delete_task(Session& session, EmailProcessingTask& task);
void restore_task(Session& session, EmailProcessingTask& task);

/// One statement for all of `ids` that are in status `from`. Returns how many.
[[nodiscard]] std::size_t set_status_of_many(Session& session, const std::vector<EmailTaskId>& ids,
                                             EmailTaskStatus from, EmailTaskStatus to);

/// Those that have not ended: all that are processed or wait for a retry that is due, and of the
/// pending ones the `most_pending` oldest.
[[nodiscard]] std::vector<EmailProcessingTask> open_tasks(Session& session,
                                                          std::int64_t most_pending);

/// A failed task that needs a person: no retry is left. Of those created since `since`.
[[nodiscard]] std::vector<EmailProcessingTask> tasks_needing_attention(Session& session,
                                                                       Timestamp since);

/// One day's processing.
struct DayPerformance {
  std::string date{};
  std::int64_t total_tasks = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::optional<double> avg_time{};  ///< seconds, of the completed ones
  std::optional<double> max_time{};
};

/// Since `since`, the newest day first.
[[nodiscard]] std::vector<DayPerformance> performance(Session& session, Timestamp since);

/// A task beside its user and one of its invoices, for as many rows as it has invoices.
struct TaskOverview {
  EmailTaskId id;
  EmailTaskStatus status{};
  std::string email_subject{};
  std::string user_email{};
  std::optional<std::string> invoice_number{};
  std::optional<std::string> seller_name{};
  std::optional<std::string> total{};
  Timestamp created_at{};
};

/// Of the newest `limit` tasks, in one statement.
[[nodiscard]] std::vector<TaskOverview> overview(Session& session, std::int64_t limit);

}  // namespace errand::invoices
