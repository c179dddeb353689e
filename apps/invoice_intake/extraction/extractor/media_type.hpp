#pragma once

#include <string_view>

namespace errand::invoices {

enum class Kind { pdf, picture, xml, zip, message, other };

struct MediaType {
  Kind kind = Kind::other;
  std::string_view name;  ///< "application/pdf"
};

/// By content. The name decides only about messages, which have no mark of their own. An OFD is a
/// zip here.
[[nodiscard]] MediaType media_type_of(std::string_view bytes, std::string_view name) noexcept;

}  // namespace errand::invoices
