#pragma once

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "errand/engine.hpp"
#include "errand/timestamp.hpp"

namespace errand::testing {

/// One empty storage and all that the contract suites need to know about it. The storage may go
/// away with the object; the engines opened on it do before.
class EngineUnderTest {
 public:
  virtual ~EngineUnderTest() = default;

  /// Opens the storage. Called several times in one test: the engines then stand for several
  /// processes. Called by several threads at once, and in forked children, where it must not lean
  /// on threads or connections that this object had before.
  [[nodiscard]] virtual std::unique_ptr<Engine> open(
      EngineOptions::Open how = EngineOptions::Open::create) = 0;

  /// As if this much time had passed for the storage; negative: as if its clock had been set back.
  /// An engine that takes a Clock is given one that can be moved; where a server's clock rules,
  /// shift the stored times the other way instead.
  virtual void pass_time(std::chrono::milliseconds time) = 0;

  /// By the clock that the engine goes by.
  [[nodiscard]] virtual Timestamp now() = 0;

  /// How much time may pass by itself during a test. Zero, where only pass_time() moves the clock,
  /// makes every comparison of times exact. At most 10 minutes.
  [[nodiscard]] virtual std::chrono::milliseconds drift() const {
    return std::chrono::milliseconds{0};
  }

  /// How another process names this storage; nullopt: it cannot reach it, and the tests by
  /// processes are skipped.
  [[nodiscard]] virtual std::optional<std::string> dsn() const = 0;
};

/// The parameter of the suites: where a test gets its own EngineUnderTest from.
struct EngineFactory {
  std::string name;  ///< letters, digits and underscores
  std::function<std::unique_ptr<EngineUnderTest>()> make;

  friend std::ostream& operator<<(std::ostream& out, const EngineFactory& factory) {
    return out << factory.name;
  }
};

/// For the last argument of INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline std::string engine_name(
    const ::testing::TestParamInfo<EngineFactory>& parameter) {
  return parameter.param.name;
}

}  // namespace errand::testing
