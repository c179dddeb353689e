#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "errand/application.hpp"

#include "invoice_intake/extraction/extract.hpp"
#include "invoice_intake/intake/originals.hpp"
#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

struct ProcessingOptions {
  ExtractionOptions extraction{};
  std::chrono::seconds retry_delay = kRetryDelay;
  /// Of retries and of tasks of type ocr_retry, for each attachment and for all of them.
  std::chrono::milliseconds patient_attachment_time{120'000};
  std::chrono::milliseconds patient_whole_time{600'000};
};

/// How files become a report; tests bring their own.
using Extract = std::function<ExtractionReport(const std::filesystem::path&, InputKind,
                                               const ExtractionOptions&, const std::stop_token&)>;

/// Adds the handlers of the three task types to `app`. All references must outlive it.
///
/// A handler runs at least once and stores its outcome once: the row's version is the fence.
/// Whether a failed attempt is tried again is decided by the row (can_retry), and the Errand task
/// follows.
void add_handlers(Application& app, Database& database, const Originals& originals,
                  const ProcessingOptions& options, Extract extract_file = extract);

}  // namespace errand::invoices
