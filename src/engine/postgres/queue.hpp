#pragma once

#include <mutex>

#include "errand/task_queue.hpp"

#include "engine/postgres/bundles.hpp"
#include "engine/postgres/claimer.hpp"
#include "engine/postgres/database.hpp"

namespace errand::postgres {

class Queue final : public TaskQueue {
 public:
  /// `bundle_from`: see Claimer.
  Queue(Database& database, Bundles& bundles, std::size_t bundle_from)
      : database_{database}, bundles_{bundles}, claimer_{database, bundles, bundle_from} {}

  std::size_t submit(std::span<const NewTask> tasks) override;
  void adopt(std::span<const NewTask> tasks) override;
  [[nodiscard]] ClaimBatch claim(const ClaimRequest& request) override {
    return claimer_.claim(request);
  }
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

 private:
  std::size_t store(std::span<const NewTask> tasks, std::vector<Query> queries);

  /// `materialize`: those that a bundle holds first become rows of their own.
  std::vector<SettleStatus> store_outcomes(std::span<const Settlement> settlements,
                                           bool materialize);

  /// At the end of a backlog; before it, they go with whatever is asked next.
  void drop_last_bundles();

  Database& database_;
  Bundles& bundles_;
  Claimer claimer_;

  /// Settling and reporting touch the same rows in any order: one at a time, they cannot wait for
  /// each other in the server.
  std::mutex held_rows_;
};

}  // namespace errand::postgres
