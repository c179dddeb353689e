#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "errand/logger.hpp"
#include "errand/message_consumer.hpp"
#include "errand/task_queue.hpp"

#include "bus/symfony_serializer.hpp"

namespace errand::detail {

/// Messages as a worker takes them: a delivery is a claim, the end of an attempt settles it. So
/// messages have the worker's fetcher, handlers, settler and keeper, and its rules of retry.
///
/// The task queue behind it, if there is one, is asked first; leases that are not of messages are
/// its own.
class MessageQueue final : public WorkQueue {
 public:
  /// `tasks_join`: the queue that tasks which come as messages join.
  MessageQueue(std::vector<ConsumedTransport> transports, SymfonySerializer serializer,
               TaskQueue* tasks, std::string tasks_join, const Clock& clock, Logger& logger);

  [[nodiscard]] ClaimBatch claim(const ClaimRequest& request) override;
  std::vector<LeaseState> extend(std::span<const Lease> leases,
                                 std::chrono::milliseconds lease) override;
  /// Of tasks. A message that nobody keeps alive comes again by itself: the format names no owner.
  [[nodiscard]] std::vector<Lease> held_by(const std::string& worker) override;
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override;
  void report_progress(std::span<const ProgressReport> reports) override;
  std::vector<Rescued> rescue(const RescueRequest& request) override;

 private:
  struct Held {
    std::size_t transport = 0;
    Hold hold{};
    Timestamp kept_at{};
    WireMessage message{};
    bool settled = false;  ///< by a call that could not settle all it was given
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
  /// nullopt: the message simply ends.
  [[nodiscard]] std::optional<MessageSettlement::Forward> forward_of(const Held& held,
                                                                     const Outcome& outcome) const;

  const std::vector<ConsumedTransport> transports_;
  const SymfonySerializer serializer_;
  TaskQueue* const tasks_;
  const std::string tasks_join_;
  const Clock& clock_;
  Logger& logger_;

  std::mutex mutex_;
  std::unordered_map<TaskId, Held> held_;  ///< by the id of its lease
};

}  // namespace errand::detail
