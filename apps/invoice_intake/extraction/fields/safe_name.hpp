#pragma once

#include <string>
#include <string_view>

namespace errand::invoices {

/// A sender's file name made harmless: UTF-8, the last part behind any / or \, no control
/// characters, no line breaks, no bidirectional overrides, not "." or "..", at most 200 bytes (its
/// ending is kept). `fallback` if nothing is left.
[[nodiscard]] std::string safe_name(std::string_view name, std::string_view fallback);

/// The same for a path inside an archive: every part is a safe_name(), empty ones and ".." are
/// gone.
[[nodiscard]] std::string safe_path(std::string_view path, std::string_view fallback);

}  // namespace errand::invoices
