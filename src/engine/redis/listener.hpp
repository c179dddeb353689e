#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "errand/logger.hpp"

#include "engine/redis/connection.hpp"

namespace errand::redis {

/// A thread that hears of something on a connection of its own, and connects again whenever that is
/// lost; the log says when it is deaf. Thread-safe.
class Listener {
 public:
  /// Runs in the thread, on a new connection, until that is lost, which throws, or until `stop`,
  /// which interrupts the connection. Calls begins_to_hear().
  using Listen = std::function<void(Connection& connection, const std::stop_token& stop)>;

  /// `subject`: what Redis tells of. `logger` must outlive this, and so must all that `listen`
  /// uses.
  Listener(ConnectionSettings settings, std::string subject, Logger& logger, Listen listen);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The first call starts the thread.
  void start();

  /// Ends a receive() of `listen` under way, or the next one, if there is a connection.
  void wake();

  [[nodiscard]] bool is_hearing() const noexcept { return hearing_; }

  // For `listen`.
  void begins_to_hear();
  void pause(const std::stop_token& stop, std::chrono::milliseconds time);

 private:
  class Current;

  void run(const std::stop_token& stop);
  void set_connection(Connection* connection);

  const ConnectionSettings settings_;
  const std::string subject_;
  Logger& logger_;
  const Listen listen_;
  std::atomic<bool> hearing_ = false;
  bool was_lost_ = false;  ///< the thread's
  std::once_flag started_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  Connection* connection_ = nullptr;  ///< that `listen` runs on; under mutex_
  std::jthread thread_;
};

}  // namespace errand::redis
