#include "errand/clock.hpp"

#include <chrono>

namespace errand {
namespace {

class WallClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace

const Clock& system_clock() {
  static const WallClock clock;
  return clock;
}

}  // namespace errand
