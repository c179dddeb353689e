#include "engine/postgres/database.hpp"

#include <limits>
#include <span>
#include <utility>

namespace errand::postgres {
namespace {

ConnectionSettings for_handlers(ConnectionSettings settings) {
  settings.prepare = false;
  return settings;
}

}  // namespace

Database::Database(DatabaseSettings settings, Logger& logger)
    : settings_{std::move(settings)},
      connections_{settings_.connection, settings_.most_connections},
      handler_connections_{for_handlers(settings_.connection),
                           std::numeric_limits<std::size_t>::max()},
      notifications_{settings_.connection, settings_.listen, settings_.work, logger} {}

void Database::roll_back(Connection& connection) noexcept {
  try {
    if (connection.is_usable()) connection.execute("ROLLBACK");
  } catch (const StorageException&) {
    // The connection is broken, and the server rolls back by itself.
  }
}

Timestamp Database::now() {
  return read([](Connection& connection) {
    return connection.run(Query{"SELECT clock_timestamp()"}).time(0, 0);
  });
}

void Database::tell(const Changes& changes) {
  if (changes.work || !changes.queues.empty()) {
    notifications_.tell_work(changes.work ? std::span<const std::string>{} : changes.queues);
  }
  if (changes.cancellation) notifications_.tell_cancellation();
  if (!changes.final_tasks.empty()) notifications_.tell_completion(changes.final_tasks);
}

}  // namespace errand::postgres
