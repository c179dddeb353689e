#include "app/failure_transport.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <deque>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "errand/errors.hpp"

#include "bus/message_failure.hpp"
#include "bus/symfony_stamps.hpp"

namespace errand::detail {
namespace {

constexpr std::size_t kBatch = 100;

bool chooses(const MessageFilter& filter, const std::string& type, const FailedMessage& message) {
  return (filter.type.empty() || message.type == type) &&
         (filter.error_class.empty() || message.error.class_name == filter.error_class);
}

/// What waits in other transports is to be handled, and must not be taken away from there.
Transport& open_failures(OpenTransports& transports, const std::string& name, bool holds_failures) {
  const bool is_name = name.find(':') == std::string::npos;
  if (transports.is_failure_transport(name) || (holds_failures && !is_name)) {
    return transports.get(name);
  }
  // A name that nobody knows is told by itself.
  const std::string shown = transports.name_for_people(name);
  if (is_name && !transports.knows(name)) return transports.get(name);
  const std::vector<std::string> names = transports.failure_names();
  throw ConfigurationException{fmt::format(
      "{} is not a failure transport: what waits there is to be handled.{}{}", shown,
      names.empty() ? "" : fmt::format(" Failed messages are in {}.", fmt::join(names, ", ")),
      is_name ? fmt::format(" If it is one, name it as failure_transport in {}",
                            transports.configuration().file)
              : " If it is one, say so with --holds-failures")};
}

}  // namespace

FailureTransport::FailureTransport(OpenTransports& transports, std::string name,
                                   std::string retry_to, bool holds_failures)
    : name_{std::move(name)},
      retry_to_{std::move(retry_to)},
      transports_{transports},
      transport_{open_failures(transports_, name_, holds_failures)},
      serializer_{transports_.configuration().serializer()} {
  // Before anything is looked at: a mistake there would be everybody's.
  if (!retry_to_.empty() && transports_.get(retry_to_).is_same_queue(transport_)) {
    throw ConfigurationException{
        "--to: messages cannot be sent back to the failure transport they are in"};
  }
}

FailedMessage FailureTransport::read(StoredMessage stored) const {
  FailedMessage message{
      .stored = std::move(stored), .id = {}, .type = {}, .failed_in = {}, .error = {}};
  message.type = serializer_.type_of(message.stored.message);
  message.id =
      errand::detail::message_id(message.stored.message.headers).value_or(message.stored.id);
  message.failed_in = errand::detail::failed_in(message.stored.message).value_or("");
  message.error = errand::detail::last_error(message.stored.message).value_or(ExceptionData{});
  return message;
}

std::optional<FailedMessage> FailureTransport::find(const std::string& id) {
  if (std::optional<StoredMessage> stored = transport_.find(id)) return read(*std::move(stored));
  // Perhaps it is what the message was called from the start, as the worker's log has it.
  std::optional<FailedMessage> found;
  for_each({}, [&](FailedMessage& message) {
    if (!found && message.id == id) found = std::move(message);
  });
  return found;
}

void FailureTransport::for_each(const MessageFilter& filter,
                                const std::function<void(FailedMessage&)>& look) {
  const std::string type = serializer_.type_for(filter.type);
  for (std::size_t offset = 0;; offset += kBatch) {
    std::vector<StoredMessage> batch = transport_.list(kBatch, offset);
    for (StoredMessage& stored : batch) {
      FailedMessage message = read(std::move(stored));
      if (chooses(filter, type, message)) look(message);
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
  Transport& target = way_back(*message);
  const MoveStatus status = transport_.move(
      message->stored.id, {.to = &target, .message = second_chance_of(message->stored.message)});
  if (status == MoveStatus::left_alone) return {.outcome = in_flight};
  return {.outcome = status == MoveStatus::doubled ? sent_twice : sent, .to = target.name()};
}

boost::json::object to_json(const FailedMessage& message) {
  boost::json::object headers;
  for (const auto& [name, value] : message.stored.message.headers) headers[name] = value;
  return {{"id", message.stored.id},
          {"messageId", message.id},
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
  // By name: whether the storages of all can be reached is found out one after the other.
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
