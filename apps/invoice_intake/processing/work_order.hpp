#pragma once

#include <optional>
#include <string>
#include <vector>

#include "invoice_intake/extraction/extract.hpp"
#include "invoice_intake/model/email_task.hpp"

namespace errand::invoices {

/// One original to read.
struct WorkInput {
  std::string sha256{};
  InputKind kind = InputKind::mail;
  std::string name{};  ///< of a file; empty for an e-mail
};

/// What a task's task_data asks for.
struct WorkOrder {
  std::vector<WorkInput> inputs{};
  /// Only these paths of the report; nullopt: all.
  std::optional<std::vector<std::string>> only{};
  /// But not these: they were read before.
  std::vector<std::string> except{};

  [[nodiscard]] bool wants(const std::string& path) const;
};

/// Throws ValidationException if the data do not say what to read.
[[nodiscard]] WorkOrder read_work_order(const EmailProcessingTask& task);

}  // namespace errand::invoices
