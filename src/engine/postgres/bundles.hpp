#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "errand/task_queue.hpp"

#include "engine/postgres/wire.hpp"

namespace errand::postgres {

/// The version that a bundle hands out: its tasks are stored with 1, and seen with this one.
inline constexpr std::int64_t kBundledVersion = 2;

/// What this process has claimed in bundles (decision 0040), so that its tasks can be completed
/// where they are, and bundles be dropped that hold nothing any more. Only a memory: what is not in
/// here is found by its id, and a bundle that nobody drops is rescued in the end. Thread-safe.
class Bundles {
 public:
  struct Task {
    TaskId id;
    Tid place;
  };
  struct Spot {
    TaskId bundle;
    Tid place;
  };

  void add(TaskId bundle, std::span<const Task> tasks);

  /// One for each, in order; nothing for those that are not known here.
  [[nodiscard]] std::vector<std::optional<Spot>> find(std::span<const Lease> leases) const;

  /// These are not held by a bundle any more, whatever became of them. Leases that no bundle gave
  /// say nothing.
  void forget(std::span<const Lease> leases);

  /// When the last bundle was made, nobody else had one: this process may use the server for
  /// itself.
  void set_alone(bool alone) noexcept { alone_ = alone; }
  [[nodiscard]] bool alone() const noexcept { return alone_; }

  /// The bundles of which nothing is left. Whoever asks has to drop them.
  [[nodiscard]] std::vector<TaskId> take_spent();
  /// The same if no other bundle is left, and so perhaps nobody comes along to drop them.
  [[nodiscard]] std::vector<TaskId> take_last_spent();

 private:
  /// More than workers hold. The oldest is forgotten then.
  static constexpr std::size_t kMost = 1000;

  using Number = std::uint64_t;
  struct Bundle {
    TaskId id;
    std::size_t left;
  };
  struct Entry {
    Number bundle;
    Tid place;
  };

  using Tasks = boost::unordered_flat_map<TaskId, Entry, std::hash<TaskId>>;

  void forget(Tasks::iterator entry);

  mutable std::mutex mutex_;
  Tasks tasks_;
  std::map<Number, Bundle> bundles_;  ///< the oldest first
  std::vector<TaskId> spent_;
  Number next_ = 0;
  std::atomic<bool> alone_ = false;
};

}  // namespace errand::postgres
