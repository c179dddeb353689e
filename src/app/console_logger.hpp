#pragma once

#include <memory>
#include <string>

#include "errand/logger.hpp"

namespace spdlog {
class logger;
}

namespace errand::detail {

/// Writes to standard error: time, level, text; colours on a terminal only. One line each, of a
/// long one the beginning and the end.
class ConsoleLogger final : public Logger {
 public:
  explicit ConsoleLogger(Level least);
  ~ConsoleLogger() override;
  [[nodiscard]] bool enabled(Level level) const noexcept override;
  void write(Level level, std::string_view text) noexcept override;

 private:
  Level least_;
  std::shared_ptr<spdlog::logger> logger_;
};

/// Throws ConfigurationException naming the levels there are.
[[nodiscard]] Logger::Level parse_log_level(const std::string& name);

}  // namespace errand::detail
