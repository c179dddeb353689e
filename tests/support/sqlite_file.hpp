#pragma once

#include <memory>

#include "errand/dsn.hpp"
#include "errand/sqlite.hpp"

#include "support/temp_dir.hpp"

namespace errand::testing {

/// A database of a test's own. Each open() stands for a process. What these tests ask does not
/// depend on power cuts.
class SqliteFile {
 public:
  [[nodiscard]] Dsn dsn() const {
    return Dsn{"sqlite://" + (directory_ / "tasks.db").string() + "?synchronous=normal"};
  }

  [[nodiscard]] std::unique_ptr<Engine> open(const Clock& clock = system_clock()) const {
    EngineOptions options;
    options.clock = &clock;
    return open_sqlite(dsn(), options);
  }

 private:
  TempDir directory_;
};

}  // namespace errand::testing
