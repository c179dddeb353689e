#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/block_signals.hpp"
#include "http/problem.hpp"

/// The event loop's types, and the way from it to threads that may block and back.
namespace errand::http {

namespace asio = boost::asio;

using Executor = asio::io_context::executor_type;
template <class T = void>
using Awaitable = asio::awaitable<T, Executor>;

/// Throws on errors.
inline constexpr asio::use_awaitable_t<Executor> kAwait{};
/// Gives the error code as the first of a tuple.
inline constexpr auto kAwaitResult = asio::as_tuple(asio::use_awaitable_t<Executor>{});

using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

/// Threads that may block, for the loop that must not.
class BlockingPool {
 public:
  BlockingPool(int threads, std::size_t most_calls)
      : pool_{make(threads)}, most_calls_{most_calls} {}
  ~BlockingPool() { pool_->join(); }
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Calls `function` on a thread of the pool and goes on in the loop with what it returned or
  /// threw. Throws Problem 503 if too many calls wait already. What `function` refers to must live
  /// until then: the coroutine that waits keeps it.
  template <class Function>
  Awaitable<std::invoke_result_t<Function>> call(Function function) {
    using Result = std::invoke_result_t<Function>;
    if (calls_ >= most_calls_) {
      throw Problem{503, "too many requests wait for the storage"}.with_header("Retry-After", "1");
    }
    ++calls_;
    const auto start = [this](auto handler, Function body) {
      // Without it the loop could end while the call is under way.
      auto work = asio::make_work_guard(asio::get_associated_executor(handler));
      asio::post(*pool_, [this, work = std::move(work), handler = std::move(handler),
                          body = std::move(body)]() mutable {
        std::optional<Result> result;
        std::exception_ptr error;
        try {
          result.emplace(body());
        } catch (...) {
          error = std::current_exception();
        }
        asio::post(work.get_executor(), [this, handler = std::move(handler), error,
                                         result = std::move(result)]() mutable {
          --calls_;
          std::move(handler)(error, std::move(result));
        });
      });
    };
    std::optional<Result> result =
        co_await asio::async_initiate<const asio::use_awaitable_t<Executor>,
                                      void(std::exception_ptr, std::optional<Result>)>(
            start, kAwait, std::move(function));
    co_return *std::move(result);
  }

 private:
  static std::unique_ptr<asio::thread_pool> make(int threads) {
    const detail::BlockSignals inherited;
    return std::make_unique<asio::thread_pool>(static_cast<std::size_t>(threads));
  }

  std::unique_ptr<asio::thread_pool> pool_;
  std::size_t most_calls_;
  std::size_t calls_ = 0;  ///< of the loop's thread
};

/// Threads for each kind of call, so that none waits for another kind.
struct BlockingPools {
  BlockingPool storage;  ///< short questions
  BlockingPool lengthy;  ///< what goes through many tasks
  BlockingPool aside;    ///< what does not need the storage
};

}  // namespace errand::http
