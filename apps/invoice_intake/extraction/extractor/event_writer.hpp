#pragma once

#include "invoice_intake/extraction/protocol.hpp"

namespace errand::invoices {

/// Writes one line to standard output, at once: what comes next may be the end of this process.
void write_event(const ExtractorEvent& event);

}  // namespace errand::invoices
