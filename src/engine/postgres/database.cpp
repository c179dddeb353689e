#include "engine/postgres/database.hpp"

#include <utility>

namespace errand::postgres {

Database::Database(DatabaseSettings settings, Logger& logger)
    : settings_{std::move(settings)},
      notifications_{settings_.connection, settings_.listen, logger} {}

Database::Loan::Loan(Database& from) : database{from} {
  {
    std::unique_lock lock{database.mutex_};
    database.returned_.wait(lock,
                            [&] { return database.lent_ < database.settings_.most_connections; });
    ++database.lent_;
    while (!connection && !database.idle_.empty()) {
      connection = std::move(database.idle_.back());
      database.idle_.pop_back();
      // The server may have been restarted since: all its connections are closed then.
      if (!connection->is_alive()) connection.reset();
    }
  }
  if (connection) return;
  try {
    connection = std::make_unique<Connection>(database.settings_.connection);
  } catch (...) {
    {
      const std::lock_guard lock{database.mutex_};
      --database.lent_;
    }
    database.returned_.notify_one();
    throw;
  }
}

Database::Loan::~Loan() {
  {
    const std::lock_guard lock{database.mutex_};
    --database.lent_;
    if (connection->is_usable()) database.idle_.push_back(std::move(connection));
  }
  database.returned_.notify_one();
}

void Database::roll_back(Connection& connection) noexcept {
  try {
    if (connection.is_usable()) connection.execute("ROLLBACK");
  } catch (const StorageException&) {
    // The connection is broken, and the server rolls back by itself.
  }
}

void Database::tell(const Changes& changes) {
  if (changes.work || !changes.queues.empty()) {
    notifications_.tell_work(changes.work ? std::span<const std::string>{} : changes.queues);
  }
  if (changes.cancellation) notifications_.tell_cancellation();
  if (!changes.final_tasks.empty()) notifications_.tell_completion(changes.final_tasks);
}

}  // namespace errand::postgres
