#include "invoice_intake/commands/console_logger.hpp"

#include <fmt/ostream.h>

#include "errand/clock.hpp"
#include "errand/timestamp.hpp"

#include "terminal/display.hpp"

namespace errand::invoices {

void ConsoleLogger::write(Level level, std::string_view text) noexcept {
  static constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  try {
    const std::lock_guard lock{mutex_};
    fmt::print(out_, "{} {:<7} {}\n",
               to_iso8601(std::chrono::floor<std::chrono::milliseconds>(system_clock().now())),
               kNames[static_cast<int>(level)], terminal::printable(text));
  } catch (...) {
    // Nobody is left to be told.
    return;
  }
}

}  // namespace errand::invoices
