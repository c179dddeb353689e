#include "errand/message_consumer.hpp"

#include <algorithm>
#include <utility>

#include "errand/errors.hpp"

#include "worker/joined_signals.hpp"
#include "worker/message_queue.hpp"

namespace errand {
namespace {

void validate(const std::vector<ConsumedTransport>& transports) {
  if (transports.empty()) throw ConfigurationException{"there is no transport to consume"};
  for (const ConsumedTransport& one : transports) {
    if (one.transport == nullptr || one.failure == nullptr) {
      throw ConfigurationException{"a transport to consume, or its failure transport, is missing"};
    }
    try {
      validate(one.retry);
      validate(one.task_retry);
    } catch (const ValidationException& error) {
      throw ConfigurationException{"transport " + one.transport->name() + ": " + error.what()};
    }
    const auto holds_failures = [&](const ConsumedTransport& other) {
      return one.transport->is_same_queue(*other.failure);
    };
    if (std::ranges::any_of(transports, holds_failures)) {
      throw ConfigurationException{"transport " + one.transport->name() +
                                   " is where failed messages go; run them again with "
                                   "`errand failed retry` instead of consuming it"};
    }
  }
}

detail::SymfonySerializer serializer_for(const ClassNames& class_names) {
  detail::SymfonySerializer serializer;
  for (const auto& [type, class_name] : class_names) serializer.add(type, class_name);
  return serializer;
}

/// The keeper comes round three times in a lease: often enough for each transport, too.
WorkerOptions options_for(const std::vector<ConsumedTransport>& transports, WorkerOptions options) {
  for (const ConsumedTransport& one : transports) {
    options.lease = std::min(options.lease, one.transport->redeliver_timeout());
  }
  return options;
}

std::vector<Signals*> signals_of(const std::vector<ConsumedTransport>& transports) {
  std::vector<Signals*> signals;
  for (const ConsumedTransport& one : transports) signals.push_back(&one.transport->signals());
  return signals;
}

}  // namespace

class MessageConsumer::Impl {
 public:
  Impl(const std::vector<ConsumedTransport>& transports, const Handlers& handlers,
       const MessageConsumerOptions& options, Logger& logger)
      : signals_{options.tasks != nullptr ? &options.tasks->signals() : nullptr,
                 signals_of(transports)},
        queue_{transports,
               serializer_for(options.class_names),
               {.queue = options.tasks != nullptr ? &options.tasks->queue() : nullptr,
                .join = options.worker.queues.front(),
                .last = options.messages_first},
               *options.clock,
               logger},
        worker_{WorkSource{&queue_, &signals_,
                           options.tasks != nullptr ? &options.tasks->workers() : nullptr},
                handlers, options_for(transports, options.worker), logger} {}

  Worker& worker() noexcept { return worker_; }

 private:
  detail::JoinedSignals signals_;
  detail::MessageQueue queue_;
  Worker worker_;
};

MessageConsumer::MessageConsumer(std::vector<ConsumedTransport> transports,
                                 const Handlers& handlers, MessageConsumerOptions options,
                                 Logger& logger) {
  validate(transports);
  validate(options.worker);
  impl_ = std::make_unique<Impl>(transports, handlers, options, logger);
}

MessageConsumer::~MessageConsumer() = default;

WorkerReport MessageConsumer::run(const std::stop_token& stop) { return impl_->worker().run(stop); }

const std::string& MessageConsumer::name() const noexcept { return impl_->worker().name(); }

}  // namespace errand
