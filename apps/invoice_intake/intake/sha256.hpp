#pragma once

#include <string>
#include <string_view>

namespace errand::invoices {

/// Lower-case hexadecimal.
[[nodiscard]] std::string sha256_of(std::string_view bytes);

}  // namespace errand::invoices
