#pragma once

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "errand/dsn.hpp"
#include "errand/sqlite.hpp"
#include "errand/testing/engine_under_test.hpp"
#include "errand/testing/fake_clock.hpp"

namespace errand::testing {

/// A database file in a directory of its own, and the clock that all its engines share.
class SqliteUnderTest final : public EngineUnderTest {
 public:
  /// `options`: what follows the file in the DSN, or nothing.
  explicit SqliteUnderTest(std::string options) : options_{std::move(options)} {
    std::string pattern = (std::filesystem::temp_directory_path() / "errand-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), "mkdtemp " + pattern};
    }
    directory_ = pattern;
  }
  ~SqliteUnderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  SqliteUnderTest(const SqliteUnderTest&) = delete;
  SqliteUnderTest& operator=(const SqliteUnderTest&) = delete;

  std::unique_ptr<Engine> open(EngineOptions::Open how) override {
    EngineOptions options;
    options.clock = &clock_;
    options.open = how;
    return open_sqlite(Dsn{*dsn()}, options);
  }

  void pass_time(std::chrono::milliseconds time) override { clock_.advance(time); }

  Timestamp now() override { return clock_.now(); }

  std::optional<std::string> dsn() const override {
    return "sqlite://" + (directory_ / "tasks.db").string() + options_;
  }

 private:
  std::string options_;
  std::filesystem::path directory_;
  FakeClock clock_;
};

}  // namespace errand::testing
