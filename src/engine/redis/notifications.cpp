#include "engine/redis/notifications.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

/// After so long a silence the server is asked whether it is still there.
constexpr milliseconds kSilence{15'000};
constexpr std::size_t kIdLength = 36;

std::vector<TaskId> parse_ids(std::string_view text) {
  std::vector<TaskId> ids;
  while (text.size() >= kIdLength) {
    if (const auto id = TaskId::parse(text.substr(0, kIdLength))) ids.push_back(*id);
    text.remove_prefix(kIdLength);
  }
  return ids;
}

std::vector<std::string> parse_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find('\n'));
    names.emplace_back(name);
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  return names;
}

}  // namespace

Notifications::Notifications(ConnectionSettings settings, std::string caller, std::string channels,
                             Logger& logger)
    : caller_{std::move(caller)},
      channels_{std::move(channels)},
      listener_{std::move(settings), "changes", logger,
                [this](Connection& connection, const std::stop_token& stop) {
                  listen(connection, stop);
                }} {}

Subscription Notifications::subscribe(Signal signal, Callback callback) {
  listener_.start();
  return hub_.subscribe(signal, std::move(callback));
}

void Notifications::tell_work(std::span<const std::string> queues) {
  hub_.deliver(Signal::work, {.queues = queues});
}

void Notifications::tell_cancellation() { hub_.deliver(Signal::cancellation, {}); }

void Notifications::tell_completion(std::span<const TaskId> tasks) {
  hub_.deliver(Signal::completion, {.tasks = tasks});
}

void Notifications::listen(Connection& connection, const std::stop_token& stop) {
  connection.send(Command{"SUBSCRIBE"}
                      .add(channels_ + "work")
                      .add(channels_ + "done")
                      .add(channels_ + "cancel"));
  bool asked = false;
  while (!stop.stop_requested()) {
    const std::optional<Reply> reply = connection.receive(kSilence);
    if (!reply) {
      if (stop.stop_requested()) return;
      if (asked) throw StorageException{"the server is silent", StorageException::Retry::helps};
      connection.send(Command{"PING"});
      asked = true;
      continue;
    }
    asked = false;
    const Value message = reply->value();
    check(message);
    if (message[0].text() == "message") deliver(message[1].text(), message[2].text());
    // The last of the three channels.
    if (message[0].text() == "subscribe" && message[2].integer() == 3) {
      listener_.begins_to_hear();
      deliver_everything();
    }
  }
}

void Notifications::deliver(std::string_view channel, std::string_view message) {
  // This process was told when it happened.
  if (message.starts_with(caller_)) return;
  message.remove_prefix(std::min(message.size(), caller_.size()));
  channel.remove_prefix(std::min(channel.size(), channels_.size()));
  if (channel == "work") {
    const std::vector<std::string> queues = parse_names(message);
    hub_.deliver(Signal::work, {.queues = queues});
  } else if (channel == "done") {
    const std::vector<TaskId> ids = parse_ids(message);
    hub_.deliver(Signal::completion, {.tasks = ids});
  } else if (channel == "cancel") {
    hub_.deliver(Signal::cancellation, {});
  }
}

void Notifications::deliver_everything() {
  for (const Signal signal : {Signal::work, Signal::completion, Signal::cancellation}) {
    hub_.deliver(signal, {});
  }
}

}  // namespace errand::redis
