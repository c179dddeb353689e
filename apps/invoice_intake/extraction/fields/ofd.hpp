#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/fields/reading.hpp"

namespace errand::invoices {

/// The bytes of a file inside the OFD, by its path from the root without a leading slash; nullopt:
/// there is none. May throw: read_ofd() lets that pass.
using OfdFiles = std::function<std::optional<std::string>(const std::string& path)>;

/// Reads an OFD in this order, each step filling in what those before it left open: the attached
/// original_invoice.xml; the custom tags with the page texts they point to; the custom data of
/// OFD.xml. Paths are followed from OFD.xml on, none is assumed.
/// nullopt: no number anywhere.
[[nodiscard]] std::optional<Reading> read_ofd(const OfdFiles& files);

}  // namespace errand::invoices
