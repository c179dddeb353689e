#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "errand/logger.hpp"
#include "errand/signals.hpp"

#include "bus/signal_hub.hpp"
#include "engine/postgres/connection.hpp"

namespace errand::postgres {

/// Where it is told that there is work, the payload being the queue.
struct WorkChannel {
  std::string name = "errand_work";
  /// A trigger tells it, in the transaction that brings the work: nobody else has to.
  bool has_trigger = false;
};

/// What the processes tell each other, by LISTEN and NOTIFY on a connection of its own.
///
/// NOTIFY takes a lock at commit that all databases of the server share. So none is sent inside the
/// transactions that change tasks: a thread sends, in one statement, whatever has gathered while
/// the last one was under way. A process that dies in between is covered by the others' occasional
/// look.
///
/// Only what somebody here has subscribed to, be it for a while, is listened for: the server wakes
/// all who listen.
///
/// Thread-safe.
class Notifications final : public Signals {
 public:
  /// Connects in the background when there is something to tell or somebody to be told, and again
  /// whenever the connection is lost.
  Notifications(ConnectionSettings settings, bool listen, WorkChannel work, Logger& logger);
  /// Sends what is left to tell, if the server can be reached.
  ~Notifications() override;
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  /// In these queues; empty: in any.
  void tell_work(std::span<const std::string> queues);
  void tell_cancellation();
  void tell_completion(std::span<const TaskId> tasks);

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override;
  [[nodiscard]] bool reaches_other_processes() const noexcept override { return listening_; }

 private:
  using Wanted = std::bitset<kSignalCount>;
  [[nodiscard]] static constexpr std::size_t index(Signal signal) noexcept {
    return static_cast<std::size_t>(signal);
  }

  /// What is to be told to the other processes.
  struct Outbox {
    bool any_work = false;
    std::set<std::string> queues;
    bool cancellation = false;
    bool any_completion = false;
    std::vector<TaskId> completed;

    [[nodiscard]] bool empty() const noexcept {
      return !any_work && queues.empty() && !cancellation && !any_completion && completed.empty();
    }
  };

  void run(const std::stop_token& stop);
  /// Until the connection is lost, or `stop` and all is told.
  void serve(Connection& connection, Wanted& heard, const std::stop_token& stop);
  void deliver_received(PGconn* connection);
  void deliver(const PGnotify& notification);
  /// For what is wanted and not heard yet. Also delivers these signals: nobody knows what was
  /// missed so far.
  void listen(Connection& connection, Wanted& heard);
  void stop_listening();
  void send(Connection& connection, const Outbox& outbox);
  void give_back(Outbox outbox);
  void put(const std::function<void(Outbox&)>& message);
  [[nodiscard]] bool has_mail();
  void start();
  void wake() noexcept;
  /// Until something is to be sent or received, or `stop`.
  void wait(int socket, int timeout_ms) noexcept;

  const ConnectionSettings settings_;
  const bool listen_;
  const WorkChannel work_;
  const std::array<std::string, kSignalCount> listen_sql_;
  Logger& logger_;
  detail::SignalHub hub_;

  int wake_event_ = -1;
  std::mutex mutex_;
  Outbox outbox_;
  Wanted wanted_;                        ///< somebody has once subscribed to them
  std::atomic<bool> listening_ = false;  ///< to all of them; set under mutex_
  std::once_flag started_;
  std::jthread thread_;
};

}  // namespace errand::postgres
