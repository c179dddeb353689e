#pragma once

#include <string>
#include <string_view>

namespace errand::invoices {

/// A cell of RFC 4180. Text that a spreadsheet would take for a formula (=, +, @, or - before
/// anything but a number) gets an apostrophe in front: sellers choose their names themselves.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// The same for Excel, which rounds numbers to 15 digits and drops zeros in front: digits that are
/// no quantity are written as the formula ="…".
[[nodiscard]] std::string excel_cell(std::string_view text);

}  // namespace errand::invoices
