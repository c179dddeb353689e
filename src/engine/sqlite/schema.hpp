#pragma once

#include <string>

#include "errand/engine.hpp"

#include "engine/sqlite/database.hpp"

namespace errand::sqlite {

/// All migrations as one script.
[[nodiscard]] std::string schema_script();

class SqliteSchema final : public Schema {
 public:
  explicit SqliteSchema(Database& database) : database_{database} {}

  [[nodiscard]] int installed_version() override;
  [[nodiscard]] int supported_version() const override;
  void migrate() override;
  [[nodiscard]] std::string script() const override { return schema_script(); }

 private:
  Database& database_;
};

}  // namespace errand::sqlite
