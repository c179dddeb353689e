#include "engine/redis/notifications.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace errand::redis {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr std::size_t index(Signal signal) { return static_cast<std::size_t>(signal); }

/// After those of the signals.
constexpr std::size_t kHanded = kSignalCount;

/// After so long a silence the server is asked whether it is still there.
constexpr milliseconds kSilence{15'000};
/// Where tasks are handed over, which nobody else looks for while their leases last.
constexpr milliseconds kSilenceOfHandOvers{3'000};
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
      channels_{channels + "work", channels + "done", channels + "cancel",
                channels + "hand:" + caller_.substr(0, kIdLength)},
      listener_{std::move(settings), "changes", logger,
                [this](Connection& connection, const std::stop_token& stop) {
                  listen(connection, stop);
                }} {}

Subscription Notifications::subscribe(Signal signal, Callback callback) {
  Subscription subscription = hub_.subscribe(signal, std::move(callback));
  want(index(signal));
  return subscription;
}

void Notifications::hear_hand_overs(HandedCallback callback) {
  const bool wanted = callback != nullptr;
  {
    const std::lock_guard lock{handed_mutex_};
    handed_ = std::move(callback);
  }
  if (wanted) want(kHanded);
}

void Notifications::want(std::size_t channel) {
  bool first = false;
  {
    const std::lock_guard lock{mutex_};
    first = !wanted_.test(channel);
    wanted_.set(channel);
    if (first) hears_all_ = false;
  }
  listener_.start();
  if (first) listener_.wake();
}

void Notifications::tell_work(std::span<const std::string> queues) {
  hub_.deliver(Signal::work, {.queues = queues});
}

void Notifications::tell_cancellation() { hub_.deliver(Signal::cancellation, {}); }

void Notifications::tell_completion(std::span<const TaskId> tasks) {
  hub_.deliver(Signal::completion, {.tasks = tasks});
}

void Notifications::tell_completion(const Finish& finish) {
  hub_.deliver(Signal::completion, {.tasks = {&finish.id, 1}, .finish = &finish});
}

void Notifications::listen(Connection& connection, const std::stop_token& stop) {
  Wanted asked;
  Wanted heard;
  is_silent_ = false;
  while (!stop.stop_requested()) {
    ask(connection, asked);
    const milliseconds silence = asked.test(kHanded) ? kSilenceOfHandOvers : kSilence;
    const auto began = Steady::now();
    const std::optional<Reply> reply = connection.receive(silence);
    if (!reply) {
      if (Steady::now() - began < silence) continue;  // woken: more may be wanted
      if (is_silent_) {
        throw StorageException{"the server is silent", StorageException::Retry::helps};
      }
      connection.send(Command{"PING"});
      is_silent_ = true;
      continue;
    }
    is_silent_ = false;
    const Value message = reply->value();
    check(message);
    if (message[0].text() == "message") deliver(message[1].text(), message[2].text());
    if (message[0].text() == "subscribe") begin_to_hear(message[1].text(), heard);
  }
}

void Notifications::ask(Connection& connection, Wanted& asked) {
  Wanted wanted;
  {
    const std::lock_guard lock{mutex_};
    wanted = wanted_;
  }
  if (wanted == asked) return;
  Command command{"SUBSCRIBE"};
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    if (wanted.test(i) && !asked.test(i)) command.add(channels_[i]);
  }
  connection.send(command);
  asked = wanted;
}

void Notifications::begin_to_hear(std::string_view channel, Wanted& heard) {
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    if (channel != channels_[i]) continue;
    heard.set(i);
    if (i != kHanded) {
      hub_.deliver(static_cast<Signal>(i), {});
    } else if (std::exchange(heard_before_, true)) {
      const std::lock_guard lock{handed_mutex_};
      if (handed_) handed_(kHeardAgain);
    }
    bool all = false;
    {
      const std::lock_guard lock{mutex_};
      all = heard == wanted_;
      hears_all_ = all;
    }
    if (all) listener_.begins_to_hear();
  }
}

void Notifications::deliver(std::string_view channel, std::string_view message) {
  if (channel == channels_[kHanded]) {
    const std::lock_guard lock{handed_mutex_};
    if (handed_) handed_(message);
    return;
  }
  // This process was told when it happened.
  if (message.starts_with(caller_)) return;
  message.remove_prefix(std::min(message.size(), caller_.size()));
  if (channel == channels_[index(Signal::work)]) {
    const std::vector<std::string> queues = parse_names(message);
    hub_.deliver(Signal::work, {.queues = queues});
  } else if (channel == channels_[index(Signal::completion)]) {
    deliver_completion(message);
  } else if (channel == channels_[index(Signal::cancellation)]) {
    hub_.deliver(Signal::cancellation, {});
  }
}

void Notifications::deliver_completion(std::string_view message) {
  const std::size_t line = message.find('\n');
  const std::vector<TaskId> ids = parse_ids(message.substr(0, line));
  if (line != std::string_view::npos && ids.size() == 1) {
    tell_completion(Finish{.id = ids.front(), .result = std::string{message.substr(line + 1)}});
  } else {
    tell_completion(ids);
  }
}

}  // namespace errand::redis
