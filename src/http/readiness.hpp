#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <fmt/format.h>
#include <unordered_set>
#include <utility>

#include "errand/engine.hpp"
#include "errand/logger.hpp"

#include "http/loop.hpp"

namespace errand::http {

/// Whether the storage answers. However many ask, one question is under way; and nobody waits long
/// for a storage that hangs. Belongs to the loop's thread.
class Readiness {
 public:
  Readiness(asio::io_context& loop, BlockingPool& pool, Engine& engine, Logger& logger)
      : loop_{loop}, pool_{pool}, engine_{engine}, logger_{logger} {}

  /// Within two seconds.
  Awaitable<bool> is_ready() {
    if (std::chrono::steady_clock::now() < good_until_) co_return true;
    Timer answer{loop_, kPatience};
    waiting_.insert(&answer);
    if (!std::exchange(asking_, true)) asio::co_spawn(loop_, ask(), asio::detached);
    const auto [answered] = co_await answer.async_wait(kAwaitResult);
    waiting_.erase(&answer);
    co_return answered&& std::chrono::steady_clock::now() < good_until_;
  }

 private:
  static constexpr std::chrono::seconds kPatience{2};
  static constexpr std::chrono::milliseconds kGood{500};  ///< for those who ask all the time

  Awaitable<> ask() {
    try {
      co_await pool_.call([this] {
        // The newest task is as good a question as any, and costs nothing.
        return engine_.catalog()
            .list({}, {.page = 1, .page_size = 1, .documents = false, .count = false})
            .items.size();
      });
      good_until_ = std::chrono::steady_clock::now() + kGood;
      told_ = false;
    } catch (const std::exception& error) {
      // Whoever asks may be a stranger: what is wrong goes to the log alone.
      if (!std::exchange(told_, true)) {
        logger_.warning(fmt::format("not ready: the storage does not answer: {}", error.what()));
      }
    }
    asking_ = false;
    for (Timer* answer : waiting_) answer->cancel();
  }

  asio::io_context& loop_;
  BlockingPool& pool_;
  Engine& engine_;
  Logger& logger_;
  std::unordered_set<Timer*> waiting_;
  std::chrono::steady_clock::time_point good_until_{};
  bool asking_ = false;
  bool told_ = false;
};

}  // namespace errand::http
