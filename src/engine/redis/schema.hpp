#pragma once

#include <string>

#include "errand/engine.hpp"

#include "engine/redis/database.hpp"

namespace errand::redis {

/// For redis-cli.
[[nodiscard]] std::string schema_script(const std::string& prefix, RecordKind record);

/// Redis has no tables. A number in one key tells how the keys are to be read.
class RedisSchema final : public Schema {
 public:
  explicit RedisSchema(Database& database) : database_{database} {}

  [[nodiscard]] int installed_version() override;
  [[nodiscard]] int supported_version() const override;
  void migrate() override;
  [[nodiscard]] std::string script() const override {
    return schema_script(database_.settings().prefix, database_.settings().record);
  }

  /// Throws ConfigurationException where the tasks there are records of another kind.
  void require_record_kind();

 private:
  Database& database_;
};

}  // namespace errand::redis
