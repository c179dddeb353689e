#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "errand/bus.hpp"
#include "errand/clock.hpp"
#include "errand/engine.hpp"
#include "errand/export.hpp"
#include "errand/handler.hpp"
#include "errand/logger.hpp"
#include "errand/retry.hpp"
#include "errand/transport.hpp"
#include "errand/worker.hpp"

namespace errand {

/// A transport to receive from, and what becomes of messages whose handling fails: tried again on
/// the same transport as `retry` says, then written to `failure`, which nobody should consume.
struct ConsumedTransport {
  Transport* transport = nullptr;
  Transport* failure = nullptr;
  RetryPolicy retry{};

  /// What operators call `failure` on the command line, without secrets: the log tells them where
  /// to look. Empty: by its name.
  std::string failure_called{};

  /// Of the tasks that come over it: see MessageConsumerOptions::tasks. Without retries a failure
  /// is final, and programs that know no status `retrying` never see it.
  RetryPolicy task_retry{.max_retries = 0};
};

struct MessageConsumerOptions {
  WorkerOptions worker{};
  ClassNames class_names{};

  /// Its task queues are served, too, as worker.queues names them; null: none.
  ///
  /// A message `AsyncTaskMessage`, {"taskId": …, "payload": …}, is a task of it that another
  /// program recorded, or is recorded now: it joins the first of these queues, and the message
  /// ends. From then on it is a task like any other. Storage and transport may be different
  /// engines.
  Engine* tasks = nullptr;

  /// Tasks are asked for only when no message is due, instead of the other way round.
  bool messages_first = false;

  /// The transports' own. Must outlive the consumer.
  const Clock* clock = &system_clock();
};

/// A worker for messages without a record, and for tasks beside them. The earlier transport is
/// served first, as long as it has messages that are due.
///
/// A message that cannot be read (no type, a body that is not JSON or in PHP's own serialization, a
/// bad stamp) goes to the failure transport with the reason. While a handler runs, its message is
/// kept alive. TaskContext::message_id() is the same in all attempts.
class ERRAND_EXPORT MessageConsumer {
 public:
  /// The references must outlive the consumer. Throws ConfigurationException for bad options, and
  /// if a failure transport is to be consumed: what fails there would have nowhere to go.
  MessageConsumer(std::vector<ConsumedTransport> transports, const Handlers& handlers,
                  MessageConsumerOptions options, Logger& logger = silent_logger());
  ~MessageConsumer();
  MessageConsumer(const MessageConsumer&) = delete;
  MessageConsumer& operator=(const MessageConsumer&) = delete;

  /// As Worker::run().
  WorkerReport run(const std::stop_token& stop);

  [[nodiscard]] const std::string& name() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errand
