#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "errand/timestamp.hpp"

#include "engine/redis/stream_group.hpp"

namespace errand::redis {

/// The sorted set of messages that are not yet in the stream, by the millisecond they are due.
/// Thread-safe.
class DelayedMessages {
 public:
  /// `group` must outlive this.
  DelayedMessages(StreamGroup& group, const std::string& stream)
      : group_{group}, key_{stream + "__queue"} {}

  [[nodiscard]] const std::string& key() const noexcept { return key_; }

  /// When the next one is due that is not due at `now`.
  [[nodiscard]] std::optional<Timestamp> next_due(Timestamp now);

  /// Calls `look` with its row of scripts/stream_list.lua, if there is one of this id.
  void find(const std::string& id, const std::function<void(const Value& row)>& look);

  /// The member of the set that has this id.
  [[nodiscard]] std::optional<std::string> member(const std::string& id);

  /// Returns how many there were.
  std::size_t remove(std::span<const std::string> ids);

 private:
  /// Goes through the set until `look(row)` says that it has seen enough. `ids`: as the script
  /// takes them.
  void scan(const Command& ids, bool removes, const std::function<bool(const Value& row)>& look);

  StreamGroup& group_;
  const std::string key_;
};

}  // namespace errand::redis
