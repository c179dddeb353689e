#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::detail {

/// A DSN cut into its raw parts, nothing decoded or judged yet.
///
///     scheme:path?options
///     scheme://user_info@host_and_port/path?options
struct DsnParts {
  std::string_view scheme;
  bool has_authority = false;
  std::optional<std::string_view> user_info;
  std::string_view host_and_port;
  std::string_view path;  ///< with the slash, if it has one
  std::vector<std::string_view> options;
};

/// `text` has a scheme and a colon.
[[nodiscard]] DsnParts split_dsn(std::string_view text);

/// nullopt: a `%` without two hexadecimal digits, or `%00`.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

/// Whether the values of options with this name must not be shown.
[[nodiscard]] bool is_secret_option(std::string_view raw_name);

}  // namespace errand::detail
