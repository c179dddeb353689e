#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "errand/engine.hpp"

#include "http/loop.hpp"
#include "http/submit_body.hpp"

namespace errand::http {

/// Group commit for the loop: requests that come while a transaction is under way share the next
/// one. No timer: a lone request is stored at once. Belongs to the loop's thread.
class SubmitQueue {
 public:
  SubmitQueue(asio::io_context& loop, BlockingPool& pool, Engine& engine)
      : loop_{loop}, pool_{pool}, engine_{engine} {}

  /// Done when the task is durable. Throws what the storage throws.
  Awaitable<> submit(RequestedTask task) {
    const auto pending = std::make_shared<Pending>(loop_, std::move(task));
    gathered_.push_back(pending);
    if (!flushing_) {
      flushing_ = true;
      asio::co_spawn(loop_, flush(), asio::detached);
    }
    co_await pending->stored.async_wait(kAwaitResult);
    if (pending->error) std::rethrow_exception(pending->error);
  }

 private:
  static constexpr std::size_t kBatchTasks = 1000;

  struct Pending {
    Pending(asio::io_context& loop, RequestedTask requested)
        : task{std::move(requested)}, stored{loop, Timer::time_point::max()} {}
    RequestedTask task;
    Timer stored;  ///< cancelled when it is
    std::exception_ptr error;
  };

  Awaitable<> flush() {
    while (!gathered_.empty()) {
      const auto end = gathered_.begin() +
                       std::min(std::ssize(gathered_), static_cast<std::ptrdiff_t>(kBatchTasks));
      const std::vector<std::shared_ptr<Pending>> batch{gathered_.begin(), end};
      gathered_.erase(gathered_.begin(), end);
      std::exception_ptr error;
      try {
        co_await pool_.call([&] { return store(batch); });
      } catch (...) {
        error = std::current_exception();
      }
      for (const std::shared_ptr<Pending>& pending : batch) {
        if (error) pending->error = error;
        pending->stored.cancel();
      }
    }
    flushing_ = false;
  }

  bool store(const std::vector<std::shared_ptr<Pending>>& batch) {
    std::vector<NewTask> tasks;
    tasks.reserve(batch.size());
    std::optional<Timestamp> now;
    for (const std::shared_ptr<Pending>& pending : batch) {
      if (pending->task.at) {
        if (!now) now = engine_.now();
        delay_until_due(pending->task, *now);
        try {
          // Too far away, perhaps: only now that can be known, and the others must not suffer.
          validate(pending->task.task);
        } catch (...) {
          pending->error = std::current_exception();
          continue;
        }
      }
      tasks.push_back(pending->task.task);
    }
    engine_.queue().submit(tasks);
    return true;
  }

  asio::io_context& loop_;
  BlockingPool& pool_;
  Engine& engine_;
  std::vector<std::shared_ptr<Pending>> gathered_;
  bool flushing_ = false;
};

}  // namespace errand::http
