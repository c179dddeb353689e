#include "terminal/console_logger.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include "errand/clock.hpp"
#include "errand/errors.hpp"
#include "errand/timestamp.hpp"

#include "core/json_text.hpp"
#include "core/log_scope.hpp"
#include "terminal/display.hpp"

namespace errand::terminal {
namespace {

spdlog::level::level_enum spdlog_level(Logger::Level level) noexcept {
  switch (level) {
    case Logger::Level::debug:
      return spdlog::level::debug;
    case Logger::Level::info:
      return spdlog::level::info;
    case Logger::Level::warning:
      return spdlog::level::warn;
    case Logger::Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

/// A message of a task may be a whole page. What a line begins with says what it is about, what it
/// ends with what comes next: the middle is what can be missed.
std::string shortened(std::string text) {
  constexpr std::size_t kEnd = 80;
  if (display_width(text) <= kLongestMessage + kEnd) return text;
  std::size_t end = text.size() - kEnd;
  const auto continues = [&] { return (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80; };
  while (end < text.size() && continues()) ++end;
  return truncate(text, kLongestMessage) + text.substr(end);
}

std::string_view level_name(Logger::Level level) noexcept {
  switch (level) {
    case Logger::Level::debug:
      return "debug";
    case Logger::Level::info:
      return "info";
    case Logger::Level::warning:
      return "warning";
    case Logger::Level::error:
      break;
  }
  return "error";
}

std::string trace_mark() {
  const detail::LogScope* scope = detail::LogScope::current();
  if (scope == nullptr || scope->trace_id().empty()) return {};
  return " trace=" + std::string{scope->trace_id()};
}

std::string json_line(Logger::Level level, std::string_view text) {
  std::string line;
  detail::JsonObjectText json{line};
  json.add_string("time", to_iso8601(system_clock().now()));
  json.add_string("level", level_name(level));
  json.add_string("message", text);
  if (const detail::LogScope* scope = detail::LogScope::current()) {
    json.add_string(scope->is_message() ? "messageId" : "taskId", scope->id());
    json.add_string("type", scope->type());
    json.add_number("attempt", scope->attempt());
    if (!scope->trace_id().empty()) json.add_string("traceId", scope->trace_id());
  }
  json.close();
  return line;
}

}  // namespace

ConsoleLogger::ConsoleLogger(Level least, LogFormat format)
    : least_{least},
      format_{format},
      logger_{std::make_shared<spdlog::logger>(
          "errand", std::make_shared<spdlog::sinks::stderr_color_sink_mt>())} {
  logger_->set_level(spdlog_level(least));
  logger_->set_pattern(format == LogFormat::json ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %^%-7l%$ %v",
                       spdlog::pattern_time_type::utc);
}

ConsoleLogger::~ConsoleLogger() = default;

bool ConsoleLogger::enabled(Level level) const noexcept { return level >= least_; }

void ConsoleLogger::write(Level level, std::string_view text) noexcept {
  if (!enabled(level)) return;
  try {
    // Messages of tasks end up here: one line each, and nothing a terminal would obey.
    const std::string safe = format_ == LogFormat::json ? json_line(level, text)
                                                        : shortened(printable(text)) + trace_mark();
    logger_->log(spdlog_level(level), spdlog::string_view_t{safe.data(), safe.size()});
  } catch (...) {
    // A log that cannot be written must not stop the work.
  }
}

LogFormat parse_log_format(const std::string& name) {
  if (name == "text") return LogFormat::text;
  if (name == "json") return LogFormat::json;
  throw ConfigurationException{"there is no log format `" + name + "`; there are text and json"};
}

Logger::Level parse_log_level(const std::string& name) {
  if (name == "debug") return Logger::Level::debug;
  if (name == "info") return Logger::Level::info;
  if (name == "warning") return Logger::Level::warning;
  if (name == "error") return Logger::Level::error;
  throw ConfigurationException{"there is no log level `" + name +
                               "`; there are debug, info, warning and error"};
}

}  // namespace errand::terminal
