#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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

  class Naming;

  struct Claiming {
    std::int64_t stands_by = -1;  ///< how many tasks it may be handed, as claim.lua takes it
    std::unique_ptr<Naming> naming{};
    bool missed = false;  ///< a task may have been on its way while nobody listened; told once
  };
  /// Of this claim's worker: -1 without a taker.
  [[nodiscard]] Claiming claims(const ClaimRequest& request);

  struct Settling {
    Command again{};  ///< what settle.lua takes after its last task: nothing, or two words
    std::unique_ptr<Naming> naming{};
  };
  /// Where the only one of them was handed over, its worker stands by again.
  [[nodiscard]] Settling settles(std::span<const Settlement> settlements);

 private:
  struct Worker {
    std::string name;
    Taker taker;
    std::vector<std::string> queues{};   ///< of its last claim
    std::chrono::milliseconds lease{0};  ///< of its last claim
    bool stands_by = false;              ///< as its last claim said
    bool may_have_missed = false;        ///< a task that was handed over while nobody listened here
    std::size_t named = 0;               ///< by so many scripts that are under way
    bool takes = false;                  ///< the taker is running
    /// In `standby:<queue>`, behind the process.
    [[nodiscard]] std::string entry() const { return std::to_string(lease.count()) + " " + name; }
  };
  /// Where a task came from that was handed over.
  struct Handed {
    std::string worker;
    std::string queue;
  };

  /// What submit_alone.lua publishes: the worker, the task's id, the length of its entry, a line
  /// each; then the entry, and the payload where the entry does not have it.
  void deliver(std::string_view message);
  void take(const std::shared_ptr<Worker>& worker, Claim claim);
  void leave(const std::string& worker);
  /// Under the lock.
  [[nodiscard]] std::unique_ptr<Naming> begin_naming(const std::shared_ptr<Worker>& worker);

  Database& database_;
  std::mutex mutex_;
  std::condition_variable changed_;  ///< somebody's `named` or `takes`
  std::map<std::string, std::shared_ptr<Worker>> workers_;
  std::unordered_map<TaskId, Handed> handed_;  ///< and not settled yet
};

/// A script that may name a worker in `standby:<queue>` is under way: until then it does not leave.
/// Ends without the lock.
class HandOver::Naming {
 public:
  Naming(HandOver& owner, std::shared_ptr<Worker> worker)
      : owner_{owner}, worker_{std::move(worker)} {}
  ~Naming();
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

 private:
  HandOver& owner_;
  const std::shared_ptr<Worker> worker_;
};

}  // namespace errand::redis
