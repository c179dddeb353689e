#pragma once

#include <cstddef>
#include <string>

#include "engine/redis/in_parts.hpp"
#include "engine/redis/scripts.hpp"
#include "engine/redis/server.hpp"
#include "engine/redis/stream_settings.hpp"

namespace errand::redis {

/// A stream, one group of its readers, and connections to their server. Thread-safe.
class StreamGroup {
 public:
  /// What one run of a script takes.
  static constexpr MostOfAPart kMost{.items = 1000, .bytes = std::size_t{64} * 1024 * 1024};

  explicit StreamGroup(const StreamSettings& settings)
      : stream_{settings.stream},
        name_{settings.group},
        deletes_{settings.delete_after_ack || settings.delete_after_reject},
        server_{settings.connection, settings.most_connections} {}

  /// Throws StorageException if messages would be deleted that other groups have not read.
  [[nodiscard]] bool exists();
  /// The stream, too. Nothing happens to what is there already.
  void create();

  /// Runs a script that changes something; stream and group are before the other arguments.
  Reply write(const Script& script, const Command& arguments = {}, const Command& more = {});
  /// Runs a script that changes nothing.
  [[nodiscard]] Reply read(const Script& script, const Command& arguments = {},
                           const Command& more = {});

  /// Stream and group, which all scripts take.
  [[nodiscard]] Command arguments() const;
  [[nodiscard]] Server& server() noexcept { return server_; }

 private:
  const std::string stream_;
  const std::string name_;
  const bool deletes_;
  Server server_;
};

}  // namespace errand::redis
