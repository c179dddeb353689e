#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "errand/task_queue.hpp"

namespace errand::detail {

/// Group commit: calls that arrive while a transaction is under way share the next one.
///
/// No timer: the first caller of a batch leads it, waits for the batch before it and no longer,
/// and a lone caller writes at once.
class SubmitBatcher {
 public:
  explicit SubmitBatcher(TaskQueue& queue) : queue_{queue} {}

  /// Blocks until the task is durable. `task` must be valid: a batch stands or falls as one.
  void submit(NewTask task);

 private:
  struct Batch {
    std::vector<NewTask> tasks;
    std::exception_ptr error;  ///< written before `done`
    std::atomic<bool> done = false;
  };

  void lead(std::unique_lock<std::mutex> lock, const std::shared_ptr<Batch>& batch);

  TaskQueue& queue_;
  std::mutex mutex_;
  std::condition_variable flush_ended_;
  bool flushing_ = false;
  std::shared_ptr<Batch> open_;  ///< gathers; null if nobody waits for the flush under way
};

}  // namespace errand::detail
