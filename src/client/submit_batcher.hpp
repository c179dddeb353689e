#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <latch>
#include <memory>
#include <mutex>
#include <vector>

#include "errand/task_queue.hpp"

namespace errand::detail {

/// Group commit: calls that arrive while as many transactions are under way as the queue wants
/// share the next one.
///
/// No timer: the first caller of a batch leads it, waits for one of those to end and no longer, and
/// a lone caller writes at once.
class SubmitBatcher {
 public:
  explicit SubmitBatcher(TaskQueue& queue)
      : queue_{queue}, at_a_time_{std::max<std::size_t>(queue.submits_at_a_time(), 1)} {}

  /// Blocks until the task is durable. `task` must be valid: a batch stands or falls as one.
  void submit(NewTask task);

 private:
  struct Batch {
    std::vector<NewTask> tasks;
    std::exception_ptr error;  ///< written before `ended`
    // For the callers that did not lead. No lock: each would have to take it in turn to go on.
    std::latch ended{1};
  };

  void lead(std::unique_lock<std::mutex> lock, const std::shared_ptr<Batch>& batch);

  TaskQueue& queue_;
  const std::size_t at_a_time_;
  std::mutex mutex_;
  std::condition_variable flush_ended_;
  std::size_t under_way_ = 0;
  std::shared_ptr<Batch> open_;  ///< gathers; null if nobody waits for one of those under way
};

}  // namespace errand::detail
