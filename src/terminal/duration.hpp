#pragma once

#include <chrono>
#include <string_view>

namespace errand::terminal {

/// `500ms`, `5s`, `2m`, `1h`, `7d`, with a fraction if wanted (`1.5h`); a plain number means
/// seconds. Up to 100 years. Throws ValidationException that names the text and the right forms.
[[nodiscard]] std::chrono::milliseconds parse_duration(std::string_view text);

}  // namespace errand::terminal
