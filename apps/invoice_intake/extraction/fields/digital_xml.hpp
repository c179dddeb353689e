#pragma once

#include <optional>
#include <string_view>

#include "invoice_intake/extraction/fields/reading.hpp"

namespace errand::invoices {

/// The XML of a fully digital invoice (EInvoice), or an OFD's original_invoice.xml. Element names
/// count, namespaces do not. nullopt: not XML, not an invoice, or without a number.
[[nodiscard]] std::optional<Reading> read_invoice_xml(std::string_view bytes, Source source);

/// Whether the bytes begin like an XML document; cheap.
[[nodiscard]] bool looks_like_xml(std::string_view bytes) noexcept;

}  // namespace errand::invoices
