#pragma once

#include "errand/task_queue.hpp"

#include "engine/sqlite/database.hpp"

namespace errand::sqlite {

class Queue final : public TaskQueue {
 public:
  explicit Queue(Database& database) : database_{database} {}

  std::size_t submit(std::span<const NewTask> tasks) override;
  void adopt(std::span<const NewTask> tasks) override;
  [[nodiscard]] ClaimBatch claim(const ClaimRequest& request) override;
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
  /// `first`: a statement with the parameters of kSubmit, run before it.
  std::size_t store(std::span<const NewTask> tasks, std::optional<const char*> first);

  Database& database_;
};

}  // namespace errand::sqlite
