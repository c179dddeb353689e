#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "errand/dsn.hpp"

#include "contract/postgres_under_test.hpp"
#include "support/temp_dir.hpp"

namespace errand::distributors {

/// Each test runs on a new database of each kind.
enum class Kind { sqlite, postgres };

inline void PrintTo(Kind kind, std::ostream* out) {
  *out << (kind == Kind::sqlite ? "Sqlite" : "Postgres");
}

class DatabaseUnderTest {
 public:
  explicit DatabaseUnderTest(Kind kind) : kind_{kind} {
    if (kind == Kind::postgres) postgres_ = testing::PostgresUnderTest::in_schema();
  }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

  [[nodiscard]] Dsn dsn(const std::string& options = "") const {
    if (kind_ == Kind::postgres) {
      return Dsn{postgres_->direct() + (options.empty() ? "" : "&" + options)};
    }
    return Dsn{"sqlite://" + (directory_ / "distributors.db").string() + "?synchronous=normal" +
               (options.empty() ? "" : "&" + options)};
  }

 private:
  const Kind kind_;
  testing::TempDir directory_;
  std::unique_ptr<testing::PostgresUnderTest> postgres_;
};

}  // namespace errand::distributors
