#include "errand/logger.hpp"

namespace errand {
namespace {

class SilentLogger final : public Logger {
 public:
  void write(Level /*level*/, std::string_view /*text*/) noexcept override {}
  [[nodiscard]] bool enabled(Level /*level*/) const noexcept override { return false; }
};

}  // namespace

Logger& silent_logger() noexcept {
  static SilentLogger logger;
  return logger;
}

}  // namespace errand
