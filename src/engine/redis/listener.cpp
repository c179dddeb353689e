#include "engine/redis/listener.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/block_signals.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{5000};

}  // namespace

Listener::Listener(ConnectionSettings settings, std::string subject, Logger& logger, Listen listen)
    : settings_{std::move(settings)},
      subject_{std::move(subject)},
      logger_{logger},
      listen_{std::move(listen)} {}

Listener::~Listener() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Listener::start() {
  std::call_once(started_, [this] {
    thread_ = detail::start_without_signals([this](const std::stop_token& stop) { run(stop); });
  });
}

void Listener::wake() {
  const std::lock_guard lock{mutex_};
  if (connection_ != nullptr) connection_->wake();
}

void Listener::set_connection(Connection* connection) {
  const std::lock_guard lock{mutex_};
  connection_ = connection;
}

void Listener::begins_to_hear() {
  hearing_ = true;
  if (std::exchange(was_lost_, false)) logger_.info("Redis tells of " + subject_ + " again");
}

void Listener::pause(const std::stop_token& stop, milliseconds time) {
  std::unique_lock lock{mutex_};
  stopped_.wait_for(lock, stop, time, [] { return false; });
}

/// The connection that wake() is for, from construction to destruction.
class Listener::Current {
 public:
  Current(Listener& listener, Connection& connection) : listener_{listener} {
    listener_.set_connection(&connection);
  }
  ~Current() { listener_.set_connection(nullptr); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  Listener& listener_;
};

void Listener::run(const std::stop_token& stop) {
  milliseconds wait = kFirstPause;
  while (!stop.stop_requested()) {
    try {
      Connection connection{settings_};
      const std::stop_callback on_stop{stop, [&] { connection.interrupt(); }};
      const Current current{*this, connection};
      listen_(connection, stop);
    } catch (const std::exception& error) {
      if (stop.stop_requested()) return;
      if (!std::exchange(was_lost_, true)) {
        logger_.warning("Redis cannot tell of " + subject_ + ", polling instead: " + error.what());
      }
      if (hearing_) wait = kFirstPause;
    }
    hearing_ = false;
    pause(stop, wait);
    wait = std::min(wait * 2, kLongestPause);
  }
}

}  // namespace errand::redis
