#pragma once

#include <iosfwd>
#include <mutex>

#include "errand/logger.hpp"

namespace errand::distributors {

/// Lines on a stream: time, level, text.
class ConsoleLogger final : public Logger {
 public:
  /// `out` must outlive it.
  ConsoleLogger(std::ostream& out, Level least) : out_{out}, least_{least} {}

  void write(Level level, std::string_view text) noexcept override;
  [[nodiscard]] bool enabled(Level level) const noexcept override { return level >= least_; }

 private:
  std::ostream& out_;
  const Level least_;
  std::mutex mutex_;
};

}  // namespace errand::distributors
