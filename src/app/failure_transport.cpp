#include "app/failure_transport.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <deque>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "errand/clock.hpp"
#include "errand/errors.hpp"

#include "bus/message_failure.hpp"

namespace errand::detail {
namespace {

constexpr std::size_t kBatch = 100;

bool chooses(const MessageFilter& filter, const FailedMessage& message) {
  return (filter.type.empty() || message.type == filter.type) &&
         (filter.error_class.empty() || message.error.class_name == filter.error_class);
}

/// Whether a consumer of the failure transport has it.
bool is_in_flight(const StoredMessage& message, const Transport& transport) {
  return message.delivered_at &&
         *message.delivered_at + transport.redeliver_timeout() >= system_clock().now();
}

}  // namespace

FailureTransport::FailureTransport(OpenTransports& transports, std::string name,
                                   std::string retry_to)
    : name_{std::move(name)},
      retry_to_{std::move(retry_to)},
      transports_{transports},
      transport_{transports_.get(name_)} {
  for (const auto& [type, class_name] : transports_.configuration().class_names) {
    serializer_.add(type, class_name);
  }
}

FailedMessage FailureTransport::read(StoredMessage stored) const {
  FailedMessage message{.stored = std::move(stored), .type = {}, .failed_in = {}, .error = {}};
  message.type = serializer_.type_of(message.stored.message);
  message.failed_in = errand::detail::failed_in(message.stored.message).value_or("");
  message.error = last_error(message.stored.message).value_or(ExceptionData{});
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

MessagePage FailureTransport::page(const MessageFilter& filter) {
  MessagePage page;
  // Of those up to the end of the page, counted from the newest.
  std::deque<std::string> ids;
  const std::int64_t most = filter.page * filter.page_size;
  for_each(filter, [&](FailedMessage& message) {
    ++page.total;
    ids.push_back(std::move(message.stored.id));
    if (static_cast<std::int64_t>(ids.size()) > most) ids.pop_front();
  });
  const std::int64_t newer = std::min(most - filter.page_size, page.total);
  ids.resize(ids.size() - static_cast<std::size_t>(newer));
  const std::size_t size = std::min(ids.size(), static_cast<std::size_t>(filter.page_size));
  for (std::size_t i = 0; i < size; ++i) {
    // Somebody may have dealt with it meanwhile.
    if (auto message = find(ids[ids.size() - 1 - i])) page.items.push_back(*std::move(message));
  }
  return page;
}

SecondChance FailureTransport::send_again(const std::string& id) {
  using enum SecondChance::Outcome;
  const std::optional<FailedMessage> message = find(id);
  if (!message) return {.outcome = gone};
  if (is_in_flight(message->stored, transport_)) return {.outcome = in_flight};
  Transport& target = way_back(*message);
  const Outgoing again = second_chance_of(message->stored.message);
  target.send({&again, 1});
  const bool was_here = transport_.remove({&id, 1}) > 0;
  return {.outcome = was_here ? sent : sent_twice, .to = target.name()};
}

boost::json::object to_json(const FailedMessage& message) {
  boost::json::object headers;
  for (const auto& [name, value] : message.stored.message.headers) headers[name] = value;
  return {{"id", message.stored.id},
          {"type", message.type},
          {"transport", message.failed_in},
          {"body", message.stored.message.body},
          {"headers", std::move(headers)},
          {"error", boost::json::parse(errand::to_json(message.error))},
          {"failedAt", to_iso8601(message.stored.created_at)}};
}

const std::string& FailureTransport::name_of_way_back(const FailedMessage& message) const {
  return retry_to_.empty() ? message.failed_in : retry_to_;
}

bool FailureTransport::knows_way_back(const FailedMessage& message) const {
  const std::string& name = name_of_way_back(message);
  return !name.empty() && name != name_ && (!retry_to_.empty() || transports_.knows(name));
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

}  // namespace errand::detail
