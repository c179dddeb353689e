#pragma once

#include <cstdint>
#include <string_view>

#include "errand/export.hpp"

namespace errand {

/// Where Errand and handlers say what they do. Thread-safe; never throws.
class ERRAND_EXPORT Logger {
 public:
  enum class Level : std::uint8_t { debug, info, warning, error };

  virtual ~Logger() = default;
  virtual void write(Level level, std::string_view text) noexcept = 0;

  /// False: whoever would have to put a text together first may save the trouble.
  [[nodiscard]] virtual bool enabled(Level /*level*/) const noexcept { return true; }

  void debug(std::string_view text) noexcept { write(Level::debug, text); }
  void info(std::string_view text) noexcept { write(Level::info, text); }
  void warning(std::string_view text) noexcept { write(Level::warning, text); }
  void error(std::string_view text) noexcept { write(Level::error, text); }
};

/// Drops everything. The default of the library: it does not write where it was not asked to.
[[nodiscard]] ERRAND_EXPORT Logger& silent_logger() noexcept;

}  // namespace errand
