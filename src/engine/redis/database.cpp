#include "engine/redis/database.hpp"

#include <algorithm>
#include <utility>

#include "engine/redis/records.hpp"

namespace errand::redis {

std::string channels_of(const DatabaseSettings& settings) {
  return settings.prefix + "errand:" + std::to_string(settings.connection.database) + ":";
}

Command common_arguments(const DatabaseSettings& settings, const std::string& caller,
                         const std::string& channels) {
  // Keys that expire at once would take the task along while it is being written.
  const std::int64_t ttl = std::max<std::int64_t>(settings.ttl.count(), 1000);
  Command arguments;
  arguments.add(settings.prefix).add(ttl).add(caller).add(channels).add(to_string(settings.record));
  arguments.add(settings.many);
  return arguments;
}

Database::Database(DatabaseSettings settings, Logger& logger)
    : settings_{std::move(settings)},
      caller_{TaskId::generate().to_string() + " "},
      channels_{channels_of(settings_)},
      common_{common_arguments(settings_, caller_, channels_)},
      server_{settings_.connection, settings_.most_connections},
      notifications_{settings_.connection, caller_, channels_, logger} {}

Reply Database::run(Connection& connection, const Script& script, const Command& arguments) {
  return run_script(connection, script, common_, arguments);
}

Timestamp Database::now() {
  const Reply time = read([](Connection& connection) { return connection.run(Command{"TIME"}); });
  constexpr std::int64_t kMicroseconds = 1'000'000;
  return time_of(time.value()[0].integer() * kMicroseconds + time.value()[1].integer());
}

Reply Database::write(const Script& script, const Command& arguments) {
  return write([&](Connection& connection) { return run(connection, script, arguments); });
}

Reply Database::read(const Script& script, const Command& arguments) {
  return read([&](Connection& connection) { return run(connection, script, arguments); });
}

}  // namespace errand::redis
