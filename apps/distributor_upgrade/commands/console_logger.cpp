#include "distributor_upgrade/commands/console_logger.hpp"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <ostream>

#include "errand/clock.hpp"

#include "distributor_upgrade/commands/screen_text.hpp"

namespace errand::distributors {

void ConsoleLogger::write(Level level, std::string_view text) noexcept {
  if (!enabled(level)) return;
  constexpr std::array<const char*, 4> kNames{"debug", "info", "warning", "error"};
  try {
    const auto now = std::chrono::floor<std::chrono::seconds>(system_clock().now());
    const std::string line =
        fmt::format("{} {:<7} {}\n", to_iso8601(now), kNames.at(static_cast<std::size_t>(level)),
                    printable(text));
    const std::lock_guard lock{mutex_};
    out_ << line << std::flush;
  } catch (...) {
    // A log that cannot be written must not stop the work.
  }
}

}  // namespace errand::distributors
