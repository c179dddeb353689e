#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "errand/logger.hpp"

namespace spdlog {
class logger;
}

namespace errand::terminal {

enum class LogFormat : std::uint8_t { text, json };

/// Writes to standard error, one line each. As text: time, level, text, and the trace that a task
/// belongs to; colours on a terminal only; of a long one the beginning and the end. As JSON: time,
/// level, message and, in an attempt at a task, taskId, type, attempt, traceId.
class ConsoleLogger final : public Logger {
 public:
  explicit ConsoleLogger(Level least, LogFormat format = LogFormat::text);
  ~ConsoleLogger() override;
  [[nodiscard]] bool enabled(Level level) const noexcept override;
  void write(Level level, std::string_view text) noexcept override;

 private:
  Level least_;
  LogFormat format_;
  std::shared_ptr<spdlog::logger> logger_;
};

/// Throws ConfigurationException naming the formats there are.
[[nodiscard]] LogFormat parse_log_format(const std::string& name);

/// Throws ConfigurationException naming the levels there are.
[[nodiscard]] Logger::Level parse_log_level(const std::string& name);

}  // namespace errand::terminal
