#pragma once

#include <optional>
#include <string>
#include <vector>

#include "errand/envelope.hpp"

#include "terminal/console.hpp"

/// What a message is made of, as it stands on the command line.
namespace errand::cli {

/// Each `NAME=VALUE`. Throws ConfigurationException.
[[nodiscard]] Headers parse_headers(const std::vector<std::string>& texts);

/// `argument` is JSON, @FILE, or - for standard input; `{}` if left out. Checked to be JSON; the
/// error says where it was taken from: `the payload: not JSON at byte 5…`.
[[nodiscard]] std::string read_payload(const std::optional<std::string>& argument,
                                       terminal::Console& console);

}  // namespace errand::cli
