#pragma once

#include <vector>

#include "errand/engine.hpp"

#include "engine/postgres/database.hpp"
#include "engine/postgres/schema.hpp"

namespace errand::postgres {

[[nodiscard]] std::vector<Finding> diagnose(Database& database, PostgresSchema& schema,
                                            TaskCatalog& catalog, WorkerRegistry& workers);

}  // namespace errand::postgres
