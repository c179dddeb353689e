#pragma once

#include "errand/engine.hpp"

#include "invoice_intake/model/email_task.hpp"

namespace errand::invoices {

/// Whether `task` waits for a worker that will not come: it has not ended, and its Errand task has,
/// or is gone. That is so after the e-mail killed three workers, or somebody cancelled or removed
/// the Errand task behind the row's back. Throws StorageException.
[[nodiscard]] bool is_lost(Engine& engine, const EmailProcessingTask& task);

/// Lets a lost task fail, so that it can be retried.
void fail_lost(EmailProcessingTask& task, Timestamp now);

}  // namespace errand::invoices
