#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "errand/dsn.hpp"

#include "engine/redis/settings.hpp"

namespace errand::redis {

/// A stream as Symfony's Redis transport names and treats it.
struct StreamSettings {
  ConnectionSettings connection;
  std::size_t most_connections = 10;

  std::string stream = "messages";
  std::string group = "symfony";
  /// What the names of our consumers begin with. Symfony takes it for the whole name, and then two
  /// processes of one name handle each other's messages.
  std::string consumer = "errand";

  std::chrono::seconds redeliver_timeout{3600};
  /// How often to look for messages whose consumer is gone.
  std::chrono::milliseconds claim_interval{60'000};
  bool auto_setup = true;
  bool delete_after_ack = true;
  bool delete_after_reject = true;
  std::int64_t stream_max_entries = 0;  ///< roughly; 0: any number

  /// How long consumed messages are kept; zero: not at all.
  std::chrono::seconds remove_after{0};

  /// A stream of its own, which no consumer of PHP's looks at.
  [[nodiscard]] std::string kept_stream() const { return stream + ":consumed"; }
};

/// Throws ConfigurationException that names what is wrong.
[[nodiscard]] StreamSettings stream_settings(const Dsn& dsn);

}  // namespace errand::redis
