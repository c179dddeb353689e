// Dsn: whatever it reads it reads the same again, and it never shows a password.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "errand/dsn.hpp"
#include "errand/errors.hpp"

#include "fuzz/invariant.hpp"

namespace {

using errand::Dsn;
using errand::fuzz::require;

constexpr std::size_t kMaxDsnBytes = 4096;

void check_shown_form(const Dsn& dsn) {
  const std::string shown = dsn.to_string();
  if (shown.size() > kMaxDsnBytes) return;
  const Dsn again{shown};
  require(again.to_string() == shown, "showing the shown form changes nothing");
  require(again.kind() == dsn.kind() && again.scheme() == dsn.scheme(), "the scheme is shown");
  require(again.user() == dsn.user() && again.host() == dsn.host() && again.port() == dsn.port() &&
              again.path() == dsn.path(),
          "user, host, port and path are shown");
  require(again.options().size() == dsn.options().size(), "every option is shown");
  require(dsn.password().empty() || again.password() == "***", "the password is hidden");
}

std::optional<Dsn> parsed(std::string_view text) {
  try {
    return Dsn{text};
  } catch (const errand::ConfigurationException&) {
    return std::nullopt;
  }
}

void check_any_text(std::string_view text) {
  const std::optional<Dsn> dsn = parsed(text);
  if (!dsn) return;
  require(dsn->secret_text() == text, "the text is kept");
  check_shown_form(*dsn);
}

constexpr std::string_view kSecret = "correct-horse-battery-staple";

/// Builds `SCHEME://u:BEFORE<secret>AFTER@REST` out of the input, whatever characters that puts
/// into the password.
void check_password(std::string_view input) {
  constexpr std::array<std::string_view, 7> kStarts{
      "postgresql://u:", "mysql://u:", "redis://u:", "rediss://:",
      "redis+unix://u:", "mysql:u:",   "oracle://u:"};
  // The fuzzer reads the program and may bring the secret along in a part that is none.
  if (input.empty() || input.find(kSecret) != std::string_view::npos) return;
  std::string text{kStarts[static_cast<unsigned char>(input.front()) % kStarts.size()]};
  input.remove_prefix(1);
  const auto take_line = [&] {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    return line;
  };
  text.append(take_line()).append(kSecret).append(take_line()).append("@").append(take_line());
  std::string said;
  try {
    said = Dsn{text}.to_string();
  } catch (const errand::ConfigurationException& error) {
    said = error.what();
  }
  require(said.find(kSecret) == std::string::npos, "nothing shows a password");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  check_any_text(input);
  check_password(input);
  return 0;
}
