#pragma once

#include <iosfwd>
#include <mutex>

#include "errand/logger.hpp"

namespace errand::invoices {

/// Lines on a stream: time, level, text.
class ConsoleLogger final : public Logger {
 public:
  /// `out` must outlive it.
  explicit ConsoleLogger(std::ostream& out) : out_{out} {}
  void write(Level level, std::string_view text) noexcept override;

 private:
  std::ostream& out_;
  std::mutex mutex_;
};

}  // namespace errand::invoices
