#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "errand/task_queue.hpp"

#include "engine/redis/command.hpp"
#include "engine/redis/database.hpp"

namespace errand::redis {

/// Tasks that submits hand to the workers of this process.
///
/// A claim or a settle that makes a worker stand by names it in `standby:<queue>`. The submit of a
/// single task takes the name from there, stores the task as claimed by that worker, and publishes
/// it on the channel of the worker's process. Thread-safe.
class HandOver {
 public:
  explicit HandOver(Database& database) : database_{database} {}
  ~HandOver() { database_.notifications().hear_hand_overs(nullptr); }
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;

  [[nodiscard]] Subscription stand_by(const std::string& worker, Taker taker);

  /// Held while a script runs that makes a worker stand by: until then nobody leaves.
  using Staying = std::shared_lock<std::shared_mutex>;
  [[nodiscard]] Staying stay() { return Staying{leaving_}; }

  /// How many tasks this claim's worker may be handed, as claim.lua takes it: -1 without a taker.
  /// Throws StorageException, in doubt, if one may have been on its way while nobody listened: who
  /// claims looks then what it holds.
  [[nodiscard]] std::int64_t claims(const ClaimRequest& request);

  /// What settle.lua takes after its last task: where the only one of them was handed over, its
  /// worker stands by again. Nothing otherwise.
  [[nodiscard]] Command settles(std::span<const Settlement> settlements);

 private:
  struct Worker {
    Taker taker;
    std::vector<std::string> queues{};   ///< of its last claim
    std::chrono::milliseconds lease{0};  ///< of its last claim
    bool stands_by = false;              ///< as its last claim said
    bool may_have_missed = false;        ///< a task that was handed over while nobody listened here
    [[nodiscard]] std::string named(const std::string& name) const {
      return std::to_string(lease.count()) + " " + name;
    }
  };
  /// Where a task came from that was handed over.
  struct Handed {
    std::string worker;
    std::string queue;
  };

  /// What submit_alone.lua publishes: the worker, the task's id, the length of its entry, a line
  /// each; then the entry, and the payload where the entry does not have it.
  void deliver(std::string_view message);
  void leave(const std::string& worker);

  Database& database_;
  std::shared_mutex leaving_;
  std::mutex mutex_;  ///< held while a taker runs
  std::map<std::string, Worker> workers_;
  std::unordered_map<TaskId, Handed> handed_;  ///< and not settled yet
};

}  // namespace errand::redis
