#include "client/submit_batcher.hpp"

#include <utility>

namespace errand::detail {

void SubmitBatcher::submit(NewTask task) {
  std::unique_lock lock{mutex_};
  const bool leads = open_ == nullptr;
  const std::shared_ptr<Batch> batch = leads ? std::make_shared<Batch>() : open_;
  batch->tasks.push_back(std::move(task));
  open_ = batch;  // after what may throw: a batch without a leader would never be stored
  if (leads) {
    lead(std::move(lock), batch);
  } else {
    lock.unlock();
    batch->ended.wait();
  }
  if (batch->error) std::rethrow_exception(batch->error);
}

void SubmitBatcher::lead(std::unique_lock<std::mutex> lock, const std::shared_ptr<Batch>& batch) {
  flush_ended_.wait(lock, [this] { return under_way_ < at_a_time_; });
  ++under_way_;
  open_ = nullptr;
  lock.unlock();
  try {
    queue_.submit(batch->tasks);
  } catch (...) {
    batch->error = std::current_exception();
  }
  lock.lock();
  --under_way_;
  lock.unlock();
  // The next leader first: its transaction can run while this batch's callers wake up.
  flush_ended_.notify_one();
  batch->ended.count_down();
}

}  // namespace errand::detail
