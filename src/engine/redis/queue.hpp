#pragma once

#include "errand/task_queue.hpp"

#include "engine/redis/bundle_book.hpp"
#include "engine/redis/database.hpp"
#include "engine/redis/hand_over.hpp"

namespace errand::redis {

/// A call is one script, and so one transaction, for up to kMostTasks tasks and kMostBytes; a
/// larger one is several, and in doubt if a later one of them fails.
class Queue final : public TaskQueue {
 public:
  explicit Queue(Database& database) : database_{database} {}

  std::size_t submit(std::span<const NewTask> tasks) override;
  /// The server has the next one while the last one's callers wake up; nobody waits for a disk.
  [[nodiscard]] std::size_t submits_at_a_time() const noexcept override { return 3; }
  void adopt(std::span<const NewTask> tasks) override;
  [[nodiscard]] ClaimBatch claim(const ClaimRequest& request) override;
  [[nodiscard]] Subscription stand_by(const std::string& worker, Taker taker) override;
  std::vector<LeaseState> extend(std::span<const Lease> leases,
                                 std::chrono::milliseconds lease) override;
  [[nodiscard]] std::vector<Lease> held_by(const std::string& worker) override;
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override;
  void report_progress(std::span<const ProgressReport> reports) override;
  std::vector<CancelStatus> cancel(std::span<const TaskId> ids) override;
  std::vector<Rescued> rescue(const RescueRequest& request) override;
  std::size_t requeue(std::span<const TaskId> ids) override;
  std::size_t discard(std::span<const TaskId> ids) override;
  [[nodiscard]] std::vector<Finish> finished(std::span<const TaskId> ids) override;
  void pause(std::span<const std::string> queues) override;
  void resume(std::span<const std::string> queues) override;

  /// The server does nothing else while a script runs, and tells others that it is BUSY after 5 s.
  static constexpr std::size_t kMostTasks = 10'000;
  static constexpr std::size_t kMostBytes = std::size_t{256} * 1024 * 1024;

 private:
  /// `first`: a script that takes what submit takes, run before it; null: none.
  std::size_t store(std::span<const NewTask> tasks, const Script* first);
  /// The only one of its batch, with which its task has become final.
  void tell_of(const Settlement& ended);
  void add_settlement(Command& arguments, const Settlement& settlement);

  Database& database_;
  HandOver hand_over_{database_};
  BundleBook bundles_;
};

}  // namespace errand::redis
