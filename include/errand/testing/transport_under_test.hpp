#pragma once

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <ostream>
#include <string>

#include "errand/testing/fake_clock.hpp"
#include "errand/transport.hpp"

namespace errand::testing {

/// One empty storage of messages, and the clock that all who use it go by.
class TransportUnderTest {
 public:
  virtual ~TransportUnderTest() = default;

  /// Opens it. Called several times in one test: the transports then stand for several processes,
  /// or for several queues. `options`: more of the DSN, as `queue_name=failed&remove_after=60`.
  [[nodiscard]] virtual std::unique_ptr<Transport> open(
      const std::string& options = "",
      TransportOptions::Open how = TransportOptions::Open::create) = 0;

  /// What the queue is called that `queue_name=NAME` or, without one, the default opens.
  [[nodiscard]] virtual std::string called(const std::string& queue = "default") const {
    return queue;
  }

  /// All times that are compared with this clock, or with one of the server's, are then so much
  /// older.
  virtual void pass_time(std::chrono::milliseconds time) { clock_.advance(time); }

  /// How much a time may be off where the server's clock is in it, too.
  [[nodiscard]] virtual std::chrono::milliseconds drift() const {
    return std::chrono::milliseconds{0};
  }

  [[nodiscard]] FakeClock& clock() noexcept { return clock_; }

 protected:
  FakeClock clock_;
};

struct TransportFactory {
  std::string name;  ///< letters, digits and underscores
  std::function<std::unique_ptr<TransportUnderTest>()> make;

  friend std::ostream& operator<<(std::ostream& out, const TransportFactory& factory) {
    return out << factory.name;
  }
};

/// For the last argument of INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline std::string transport_factory_name(
    const ::testing::TestParamInfo<TransportFactory>& parameter) {
  return parameter.param.name;
}

}  // namespace errand::testing
