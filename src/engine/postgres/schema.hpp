#pragma once

#include <string>

#include "errand/engine.hpp"

#include "engine/postgres/database.hpp"

namespace errand::postgres {

[[nodiscard]] std::string schema_script();

class PostgresSchema final : public Schema {
 public:
  explicit PostgresSchema(Database& database) : database_{database} {}

  [[nodiscard]] int installed_version() override;
  [[nodiscard]] int supported_version() const override;
  void migrate() override;
  [[nodiscard]] std::string script() const override { return schema_script(); }

 private:
  Database& database_;
};

}  // namespace errand::postgres
