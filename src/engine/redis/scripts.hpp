#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/redis/connection.hpp"

namespace errand::redis {

/// A script of scripts/. The server knows it by its digest.
class Script {
 public:
  /// One after the other.
  Script(std::initializer_list<std::string_view> parts);

  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

 private:
  std::string source_;
  std::string digest_;  ///< SHA-1 in hexadecimal, as EVALSHA takes it
};

/// Runs it, which changes all that it changes or nothing.
Reply run_script(Connection& connection, const Script& script, const Command& arguments,
                 const Command& more = {});

/// Those of tasks. Each says in its first lines what it takes and gives.
struct Scripts {
  const Script adopt;
  const Script beat;
  const Script cancel;
  const Script claim;
  const Script ended;
  const Script extend;
  const Script finished;
  const Script held;
  const Script list;
  const Script lost;
  const Script move;
  const Script progress;
  const Script prune;
  const Script read;
  const Script remove;
  const Script requeue;
  const Script resume;
  const Script save;
  const Script settle;
  const Script stats;
  const Script submit;
};

[[nodiscard]] const Scripts& scripts();

/// Those of transports.
struct StreamScripts {
  const Script due;
  const Script find;
  const Script keep_alive;
  const Script leave;
  const Script list;
  const Script move;
  const Script newest;
  const Script purge;
  const Script release;
  const Script remove;
  const Script scan_delayed;
  const Script settle;
  const Script stats;
  const Script take_over;
};

[[nodiscard]] const StreamScripts& stream_scripts();

}  // namespace errand::redis
