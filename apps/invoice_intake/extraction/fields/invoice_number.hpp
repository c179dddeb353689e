#pragma once

#include <string_view>

namespace errand::invoices {

/// 数电票: 20 digits, of which 2 are the year (from 2021 on) and 2 the region.
[[nodiscard]] bool is_digital_number(std::string_view text) noexcept;

/// The 8 digits that go with a code.
[[nodiscard]] bool is_coded_number(std::string_view text) noexcept;

/// 10 digits (paper), or 12 (electronic, roll and toll invoices).
[[nodiscard]] bool is_invoice_code(std::string_view text) noexcept;

/// Whether the type of a QR code is one of the fully digital ones, whose amount is the total.
[[nodiscard]] bool is_digital_type(std::string_view type) noexcept;

}  // namespace errand::invoices
