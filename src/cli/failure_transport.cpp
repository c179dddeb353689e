#include "cli/failure_transport.hpp"

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "errand/errors.hpp"

#include "bus/message_failure.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kBatch = 100;

bool chooses(const MessageFilter& filter, const FailedMessage& message) {
  return (filter.type.empty() || message.type == filter.type) &&
         (filter.error_class.empty() || message.error.class_name == filter.error_class);
}

}  // namespace

FailureTransport::FailureTransport(const TransportChoice& choice, std::string retry_to)
    : name_{choice.name},
      retry_to_{std::move(retry_to)},
      transports_{choice.open(TransportOptions::Open::existing)},
      transport_{transports_.get(name_)} {
  for (const auto& [type, class_name] : transports_.configuration().class_names) {
    serializer_.add(type, class_name);
  }
}

FailedMessage FailureTransport::read(StoredMessage stored) const {
  FailedMessage message{.stored = std::move(stored), .type = {}, .failed_in = {}, .error = {}};
  message.type = serializer_.type_of(message.stored.message);
  message.failed_in = detail::failed_in(message.stored.message).value_or("");
  message.error = detail::last_error(message.stored.message).value_or(ExceptionData{});
  return message;
}

std::optional<FailedMessage> FailureTransport::find(const std::string& id) {
  std::optional<StoredMessage> stored = transport_.find(id);
  if (!stored) return std::nullopt;
  return read(*std::move(stored));
}

void FailureTransport::for_each(const MessageFilter& filter,
                                const std::function<void(FailedMessage&)>& look) {
  for (std::size_t offset = 0;; offset += kBatch) {
    std::vector<StoredMessage> batch = transport_.list(kBatch, offset);
    for (StoredMessage& stored : batch) {
      FailedMessage message = read(std::move(stored));
      if (chooses(filter, message)) look(message);
    }
    if (batch.size() < kBatch) return;
  }
}

const std::string& FailureTransport::name_of_way_back(const FailedMessage& message) const {
  return retry_to_.empty() ? message.failed_in : retry_to_;
}

void FailureTransport::require_way_back(const FailedMessage& message) const {
  const std::string& name = name_of_way_back(message);
  if (name.empty()) {
    throw ConfigurationException{
        fmt::format("message {} does not say which transport it came from: say where it goes with "
                    "--to NAME|DSN",
                    message.stored.id)};
  }
  if (name == name_) {
    throw ConfigurationException{
        fmt::format("message {} cannot be sent back to the failure transport it is in: say where "
                    "it goes with --to NAME|DSN",
                    message.stored.id)};
  }
  if (!retry_to_.empty() || transports_.knows(name)) return;
  throw ConfigurationException{fmt::format(
      "message {} failed in a transport called {}, which no configuration names here: say where it "
      "goes with --to NAME|DSN, or name {} in the configuration. The name of a transport is not "
      "always that of its queue: Symfony's `async` is the queue `default` unless its DSN says "
      "otherwise",
      message.stored.id, name, name)};
}

Transport& FailureTransport::way_back(const FailedMessage& message) {
  require_way_back(message);
  return transports_.get(name_of_way_back(message));
}

}  // namespace errand::cli
