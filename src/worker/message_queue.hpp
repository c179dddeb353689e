#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "errand/logger.hpp"
#include "errand/message_consumer.hpp"
#include "errand/task_queue.hpp"

#include "bus/symfony_serializer.hpp"
#include "worker/storage_trouble.hpp"

namespace errand::detail {

/// Messages as a worker takes them: a delivery is a claim, the end of an attempt settles it. So
/// messages have the worker's fetcher, handlers, settler and keeper, and its rules of retry.
///
/// Leases that are not of messages are those of the task queue behind it, if there is one.
class MessageQueue final : public WorkQueue {
 public:
  struct Tasks {
    TaskQueue* queue = nullptr;  ///< null: messages only
    std::string join{};          ///< the queue that tasks which come as messages join
    bool last = false;           ///< asked only when no message is due
  };

  MessageQueue(std::vector<ConsumedTransport> transports, SymfonySerializer serializer, Tasks tasks,
               const Clock& clock, Logger& logger);

  [[nodiscard]] ClaimBatch claim(const ClaimRequest& request) override;
  std::vector<LeaseState> extend(std::span<const Lease> leases,
                                 std::chrono::milliseconds lease) override;
  /// Of tasks. A message that nobody keeps alive comes again by itself: the format names no owner.
  [[nodiscard]] std::vector<Lease> held_by(const std::string& worker) override;
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override;
  void report_progress(std::span<const ProgressReport> reports) override;
  std::vector<Rescued> rescue(const RescueRequest& request) override;

 private:
  /// A settlement and a keep-alive may be on their way at once, and an end may be tried several
  /// times. What has begun to end is never reported as lost: its settlement finds out.
  enum class Stage : std::uint8_t {
    running,
    ending,    ///< still kept alive: the storage may not be reached for long
    released,  ///< not to be kept alive: it may be somebody else's by now
    settled,   ///< by a call that could not settle all it was given
  };

  struct Held {
    std::size_t transport = 0;
    Hold hold{};
    Timestamp kept_at{};
    WireMessage message{};
    std::string id{};  ///< in all its attempts
    Stage stage = Stage::running;
  };

  /// A storage that cannot be reached is told of once, and asked again after a while: waiting for
  /// it would brake the others.
  class Trouble {
   public:
    [[nodiscard]] bool waits() const { return is_on_ && Steady::now() < next_try_; }
    /// True: it begins now.
    bool begin() {
      pause_ = is_on_ ? std::min(pause_ * 2, kLongestPauseAfterError) : kFirstPauseAfterError;
      next_try_ = Steady::now() + pause_;
      return !std::exchange(is_on_, true);
    }
    /// True: there was some.
    bool end() { return std::exchange(is_on_, false); }

   private:
    using Steady = std::chrono::steady_clock;
    bool is_on_ = false;
    std::chrono::milliseconds pause_{0};
    Steady::time_point next_try_{};
  };

  struct Received {
    std::size_t messages = 0;  ///< readable or not
    std::size_t tasks = 0;     ///< those among them that have joined a queue
  };

  Received receive(std::size_t transport, std::size_t limit, std::vector<Claim>& claims);
  /// All that the transports give, until the limit is reached. Returns how many tasks joined.
  std::size_t receive_all(const ClaimRequest& request, ClaimBatch& batch, const auto& guarded);
  [[nodiscard]] NewTask read_task(const Envelope& envelope, std::size_t transport) const;
  void adopt(std::size_t transport, std::span<const NewTask> tasks, std::span<const Hold> holds);
  void refuse(std::size_t transport, std::vector<std::pair<Delivery, std::string>> unreadable);
  [[nodiscard]] std::vector<Lease> leases_of_tasks(std::span<const Lease> leases);
  void keep_alive(std::size_t transport, std::vector<LeaseState>& states);
  void settle_messages(std::size_t transport, std::span<const Settlement> settlements,
                       std::vector<SettleStatus>& statuses);
  void forget(std::span<const Settlement> settlements);
  /// For the log: what became of a message that failed for good, and how to look at it.
  [[nodiscard]] static std::string to_failure_transport(const ConsumedTransport& from);
  /// nullopt: the message simply ends. `tells`: in the log, too.
  [[nodiscard]] std::optional<MessageSettlement::Forward> forward_of(const Held& held,
                                                                     const Outcome& outcome,
                                                                     bool tells) const;

  const std::vector<ConsumedTransport> transports_;
  const SymfonySerializer serializer_;
  const Tasks tasks_;
  const Clock& clock_;
  Logger& logger_;

  std::vector<Trouble> troubles_;  ///< of each transport, and of the tasks; the fetcher's own

  std::mutex mutex_;
  std::unordered_map<TaskId, Held> held_;  ///< by the id of its lease
};

}  // namespace errand::detail
