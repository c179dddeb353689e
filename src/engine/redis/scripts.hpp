#pragma once

#include <string>
#include <string_view>

namespace errand::redis {

/// A script of scripts/, with what all of them share before it. The server knows it by its digest.
class Script {
 public:
  explicit Script(std::string_view own_part);

  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

 private:
  std::string source_;
  std::string digest_;  ///< SHA-1 in hexadecimal, as EVALSHA takes it
};

/// Each says in its first lines what it takes and gives.
struct Scripts {
  const Script adopt;
  const Script beat;
  const Script cancel;
  const Script claim;
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

}  // namespace errand::redis
