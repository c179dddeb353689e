#pragma once

#include <string_view>

namespace errand::invoices {

/// Whether the text can be a tax id: 15, 18 or 20 characters, digits and capital letters, mostly
/// digits.
[[nodiscard]] bool looks_like_tax_id(std::string_view text) noexcept;

/// 统一社会信用代码: whether the last of its 18 characters fits the others (GB 32100). Ids of other
/// lengths have no check character, and some early ids of this length are legal and fail: a reason
/// to warn, not to reject.
[[nodiscard]] bool tax_id_check_holds(std::string_view text) noexcept;

}  // namespace errand::invoices
