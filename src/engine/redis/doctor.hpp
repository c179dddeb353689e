#pragma once

#include <vector>

#include "errand/engine.hpp"

#include "engine/redis/database.hpp"
#include "engine/redis/schema.hpp"

namespace errand::redis {

[[nodiscard]] std::vector<Finding> diagnose(Database& database, RedisSchema& schema,
                                            TaskCatalog& catalog, WorkerRegistry& workers);

}  // namespace errand::redis
