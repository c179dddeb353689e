#pragma once

#include <chrono>
#include <cstddef>

#include "errand/engine.hpp"
#include "errand/logger.hpp"

#include "invoice_intake/model/email_task.hpp"
#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

/// Whether `task` waits for a worker that will not come: it has not ended, and its Errand task has,
/// or is gone. That is so after the e-mail killed three workers, or somebody cancelled or removed
/// the Errand task behind the row's back. Throws StorageException.
[[nodiscard]] bool is_lost(Engine& engine, const EmailProcessingTask& task);

/// Lets a lost task fail, so that it can be retried.
void fail_lost(EmailProcessingTask& task, Timestamp now);

/// Settles what is lost, of all users: an e-mail that killed its workers fails for good, and
/// `monitor failed` shows it; one whose Errand task was cancelled is cancelled; any other fails and
/// is retried as every failed task is. Returns how many there were. Throws StorageException.
std::size_t settle_lost_tasks(Database& database, Engine& engine, std::chrono::seconds retry_delay,
                              Logger& logger);

}  // namespace errand::invoices
