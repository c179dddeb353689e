#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "errand/logger.hpp"

#include "engine/redis/notifications.hpp"
#include "engine/redis/scripts.hpp"
#include "engine/redis/server.hpp"
#include "engine/redis/settings.hpp"

namespace errand::redis {

/// What the names of channels begin with, which are the server's and not the database's.
[[nodiscard]] std::string channels_of(const DatabaseSettings& settings);

/// The first arguments of each script of tasks.
[[nodiscard]] Command common_arguments(const DatabaseSettings& settings, const std::string& caller,
                                       const std::string& channels);

/// The server as this process uses it: a few connections, and what the processes tell each other.
/// Thread-safe.
class Database {
 public:
  Database(DatabaseSettings settings, Logger& logger);

  /// Runs a script, which changes all that it changes or nothing.
  Reply write(const Script& script, const Command& arguments);
  /// Runs a script that changes nothing that anybody would miss.
  Reply read(const Script& script, const Command& arguments);

  template <class Body>
  auto write(Body&& body) {
    return server_.write(std::forward<Body>(body));
  }
  template <class Body>
  auto read(Body&& body) {
    return server_.read(std::forward<Body>(body));
  }

  /// The server's clock.
  [[nodiscard]] Timestamp now();

  /// The name of a key that belongs to no task.
  [[nodiscard]] std::string own_key(std::string_view name) const {
    return settings_.prefix + "errand:" + std::string{name};
  }
  [[nodiscard]] std::string task_key(const std::string& id, std::string_view name) const {
    return settings_.prefix + "task:" + id + ":" + std::string{name};
  }

  /// What the messages of this process begin with.
  [[nodiscard]] const std::string& caller() const noexcept { return caller_; }
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return settings_.ttl; }
  [[nodiscard]] Notifications& notifications() noexcept { return notifications_; }
  [[nodiscard]] const DatabaseSettings& settings() const noexcept { return settings_; }

 private:
  Reply run(Connection& connection, const Script& script, const Command& arguments);

  DatabaseSettings settings_;
  std::string caller_;    ///< unique: what messages of this process begin with
  std::string channels_;  ///< what the names of channels begin with
  Command common_;        ///< the first arguments of each script
  Server server_;
  Notifications notifications_;
};

}  // namespace errand::redis
