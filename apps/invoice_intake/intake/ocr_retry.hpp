#pragma once

#include <optional>

#include "invoice_intake/model/email_task.hpp"
#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

/// Stores and submits a task of type ocr_retry for what `done` could not read; nullopt if it read
/// everything. Throws ValidationException if `done` has not ended.
std::optional<EmailProcessingTask> submit_ocr_retry(Session& session,
                                                    const EmailProcessingTask& done);

}  // namespace errand::invoices
