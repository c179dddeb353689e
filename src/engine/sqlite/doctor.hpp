#pragma once

#include <vector>

#include "errand/engine.hpp"

#include "engine/sqlite/database.hpp"
#include "engine/sqlite/schema.hpp"

namespace errand::sqlite {

[[nodiscard]] std::vector<Finding> diagnose(Database& database, SqliteSchema& schema,
                                            TaskCatalog& catalog, WorkerRegistry& workers);

}  // namespace errand::sqlite
