#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "errand/engine.hpp"

#include "http/loop.hpp"
#include "http/submit_body.hpp"
#include "http/submit_once.hpp"

namespace errand::http {

/// Group commit for the loop: requests that come while a transaction is under way share the next
/// one. No timer: a lone request is stored at once. Belongs to the loop's thread.
class SubmitQueue {
 public:
  SubmitQueue(asio::io_context& loop, BlockingPool& pool, Engine& engine)
      : loop_{loop}, pool_{pool}, engine_{engine} {}

  /// Done when the task is durable. What was stored before, if that was this task; nullopt: it is
  /// new. Throws what the storage throws, and Problem 422 if its id belongs to another task.
  Awaitable<std::optional<Submission::Before>> submit(RequestedTask task) {
    const auto pending = std::make_shared<Pending>(loop_, std::move(task));
    gathered_.push_back(pending);
    if (!flushing_) {
      flushing_ = true;
      asio::co_spawn(loop_, flush(), asio::detached);
    }
    co_await pending->stored.async_wait(kAwaitResult);
    if (pending->submission.error) std::rethrow_exception(pending->submission.error);
    co_return std::move(pending->submission.before);
  }

 private:
  static constexpr std::size_t kBatchTasks = 1000;

  struct Pending {
    Pending(asio::io_context& loop, RequestedTask requested)
        : submission{.requested = std::move(requested)}, stored{loop, Timer::time_point::max()} {}
    Submission submission;
    Timer stored;  ///< cancelled when it is
  };
  using Batch = std::vector<std::shared_ptr<Pending>>;

  /// Never throws: whoever waits is told, and the next one starts it again.
  Awaitable<> flush() {
    while (!gathered_.empty()) {
      Batch batch;
      std::exception_ptr error;
      try {
        const auto end = gathered_.begin() +
                         std::min(std::ssize(gathered_), static_cast<std::ptrdiff_t>(kBatchTasks));
        batch.assign(gathered_.begin(), end);
        gathered_.erase(gathered_.begin(), end);
        co_await pool_.call([&] { return store(batch); });
      } catch (...) {
        error = std::current_exception();
        if (batch.empty()) batch.swap(gathered_);  // there was no memory for less
      }
      for (const std::shared_ptr<Pending>& pending : batch) {
        if (error) pending->submission.error = error;
        pending->stored.cancel();
      }
    }
    flushing_ = false;
  }

  bool store(const Batch& batch) {
    std::vector<Submission> submissions;
    submissions.reserve(batch.size());
    std::optional<Timestamp> now;
    for (const std::shared_ptr<Pending>& pending : batch) {
      Submission& submission = submissions.emplace_back(std::move(pending->submission));
      if (!submission.requested.at) continue;
      if (!now) now = engine_.now();
      delay_until_due(submission.requested, *now);
      try {
        // Too far away, perhaps: only now that can be known, and the others must not suffer.
        validate(submission.requested.task);
      } catch (...) {
        submission.error = std::current_exception();
      }
    }
    look_before(engine_, submissions);
    store_new(engine_, submissions);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i]->submission = std::move(submissions[i]);
    }
    return true;
  }

  asio::io_context& loop_;
  BlockingPool& pool_;
  Engine& engine_;
  std::vector<std::shared_ptr<Pending>> gathered_;
  bool flushing_ = false;
};

}  // namespace errand::http
