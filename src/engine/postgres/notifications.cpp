#include "engine/postgres/notifications.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/block_signals.hpp"

namespace errand::postgres {
namespace {

using std::chrono::milliseconds;

constexpr const char* kDone = "errand_done";
constexpr const char* kCancel = "errand_cancel";

constexpr std::array<Signal, kSignalCount> kSignals{Signal::work, Signal::completion,
                                                    Signal::cancellation};

/// Nothing depends on a notification: it need not wait for the disk.
constexpr const char* kNoWaiting = "SET synchronous_commit = off";

/// Arrays: 1 channel, 2 payload.
constexpr const char* kNotify =
    "SELECT pg_notify(n.channel, n.payload) FROM unnest($1::text[], $2::text[]) "
    "AS n (channel, payload)";

/// A payload has less than 8,000 bytes, an id without its hyphens 32.
constexpr std::size_t kIdsInPayload = 240;
constexpr std::size_t kIdLength = 32;
/// More than this many at once are cheaper to look for than to name.
constexpr std::size_t kMostIds = 10 * kIdsInPayload;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{5000};
constexpr int kIdleMs = 60'000;

std::string compact(const TaskId& id) {
  std::string text = id.to_string();
  std::erase(text, '-');
  return text;
}

std::optional<TaskId> parse_compact(std::string_view text) {
  std::string full{text};
  for (const std::size_t place :
       {std::size_t{8}, std::size_t{13}, std::size_t{18}, std::size_t{23}}) {
    full.insert(place, 1, '-');
  }
  return TaskId::parse(full);
}

std::vector<TaskId> parse_ids(std::string_view payload) {
  std::vector<TaskId> ids;
  while (payload.size() >= kIdLength) {
    if (const auto id = parse_compact(payload.substr(0, kIdLength))) ids.push_back(*id);
    payload.remove_prefix(kIdLength);
  }
  return ids;
}

}  // namespace

Notifications::Notifications(ConnectionSettings settings, bool listen, WorkChannel work,
                             Logger& logger)
    : settings_{std::move(settings)},
      listen_{listen},
      work_{std::move(work)},
      listen_sql_{"LISTEN \"" + work_.name + "\"", std::string{"LISTEN "} + kDone,
                  std::string{"LISTEN "} + kCancel},
      logger_{logger},
      wake_event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (wake_event_ < 0) {
    throw std::system_error{errno, std::generic_category(), "cannot watch for signals"};
  }
}

void Notifications::start() {
  std::call_once(started_, [this] {
    thread_ = detail::start_without_signals([this](const std::stop_token& stop) { run(stop); });
  });
}

Notifications::~Notifications() {
  thread_.request_stop();
  wake();
  if (thread_.joinable()) thread_.join();
  close(wake_event_);
}

Subscription Notifications::subscribe(Signal signal, Callback callback) {
  Subscription subscription = hub_.subscribe(signal, std::move(callback));
  if (!listen_) return subscription;
  bool first = false;
  {
    const std::lock_guard lock{mutex_};
    first = !wanted_.test(index(signal));
    wanted_.set(index(signal));
    if (first) listening_ = false;
  }
  start();
  if (first) wake();
  return subscription;
}

void Notifications::tell_work(std::span<const std::string> queues) {
  hub_.deliver(Signal::work, {.queues = queues});
  if (work_.has_trigger) return;
  put([&](Outbox& outbox) {
    outbox.any_work = outbox.any_work || queues.empty();
    outbox.queues.insert(queues.begin(), queues.end());
  });
}

void Notifications::tell_cancellation() {
  hub_.deliver(Signal::cancellation, {});
  put([](Outbox& outbox) { outbox.cancellation = true; });
}

void Notifications::tell_completion(std::span<const TaskId> tasks) {
  hub_.deliver(Signal::completion, {.tasks = tasks});
  put([&](Outbox& outbox) {
    if (outbox.completed.size() + tasks.size() > kMostIds) {
      outbox.any_completion = true;
      outbox.completed.clear();
    } else if (!outbox.any_completion) {
      outbox.completed.insert(outbox.completed.end(), tasks.begin(), tasks.end());
    }
  });
}

void Notifications::put(const std::function<void(Outbox&)>& message) {
  if (!listen_) return;
  bool first = false;
  {
    const std::lock_guard lock{mutex_};
    first = outbox_.empty();
    message(outbox_);
  }
  start();
  if (first) wake();
}

bool Notifications::has_mail() {
  const std::lock_guard lock{mutex_};
  return !outbox_.empty();
}

void Notifications::wake() noexcept { eventfd_write(wake_event_, 1); }

void Notifications::wait(int socket, int timeout_ms) noexcept {
  std::array<pollfd, 2> events{{{socket, POLLIN, 0}, {wake_event_, POLLIN, 0}}};
  poll(events.data(), events.size(), timeout_ms);
  eventfd_t count = 0;
  if ((events[1].revents & POLLIN) != 0) eventfd_read(wake_event_, &count);
}

void Notifications::run(const std::stop_token& stop) {
  milliseconds pause = kFirstPause;
  bool lost = false;
  bool last_try = false;
  while (!last_try && (!stop.stop_requested() || has_mail())) {
    last_try = stop.stop_requested();
    try {
      Connection connection{settings_};
      connection.run(Query{kNoWaiting});
      Wanted heard;
      listen(connection, heard);
      pause = kFirstPause;
      if (std::exchange(lost, false)) logger_.info("PostgreSQL tells of changes again");
      serve(connection, heard, stop);
    } catch (const std::exception& error) {
      if (!std::exchange(lost, true)) {
        logger_.warning(std::string{"PostgreSQL cannot tell of changes, polling instead: "} +
                        error.what());
      }
    }
    stop_listening();
    const auto until = std::chrono::steady_clock::now() + pause;
    pause = std::min(pause * 2, kLongestPause);
    while (!stop.stop_requested()) {
      const auto left =
          std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now()).count();
      if (left <= 0) break;
      wait(-1, static_cast<int>(left));
    }
  }
}

void Notifications::serve(Connection& connection, Wanted& heard, const std::stop_token& stop) {
  while (true) {
    listen(connection, heard);
    Outbox outbox;
    {
      const std::lock_guard lock{mutex_};
      outbox = std::exchange(outbox_, {});
    }
    if (!outbox.empty()) {
      try {
        send(connection, outbox);
      } catch (...) {
        give_back(std::move(outbox));
        throw;
      }
      deliver_received(connection.handle());
      continue;  // more may have gathered meanwhile
    }
    if (stop.stop_requested()) return;
    wait(PQsocket(connection.handle()), kIdleMs);
    if (!consume_input(connection.handle()) || !connection.is_usable()) {
      throw StorageException{"the connection was closed", StorageException::Retry::helps};
    }
    deliver_received(connection.handle());
  }
}

void Notifications::give_back(Outbox outbox) {
  const std::lock_guard lock{mutex_};
  outbox_.any_work |= outbox.any_work;
  outbox_.queues.merge(outbox.queues);
  outbox_.cancellation |= outbox.cancellation;
  outbox_.any_completion |= outbox.any_completion;
  outbox_.completed.insert(outbox_.completed.end(), outbox.completed.begin(),
                           outbox.completed.end());
}

void Notifications::deliver_received(PGconn* connection) {
  struct Free {
    void operator()(PGnotify* notification) const noexcept { PQfreemem(notification); }
  };
  while (true) {
    const std::unique_ptr<PGnotify, Free> notification{PQnotifies(connection)};
    if (!notification) return;
    // This process was told when it happened.
    if (notification->be_pid != PQbackendPID(connection)) deliver(*notification);
  }
}

void Notifications::deliver(const PGnotify& notification) {
  const std::string_view channel = notification.relname;
  const std::string payload = notification.extra;
  if (channel == kCancel) hub_.deliver(Signal::cancellation, {});
  if (channel == work_.name) {
    if (payload.empty()) {
      hub_.deliver(Signal::work, {});
    } else {
      hub_.deliver(Signal::work, {.queues = {&payload, 1}});
    }
  }
  if (channel == kDone) {
    const std::vector<TaskId> ids = parse_ids(payload);
    hub_.deliver(Signal::completion, {.tasks = ids});
  }
}

void Notifications::listen(Connection& connection, Wanted& heard) {
  Wanted wanted;
  {
    const std::lock_guard lock{mutex_};
    wanted = wanted_;
  }
  if (wanted == heard) return;
  std::vector<Query> queries;
  for (const Signal signal : kSignals) {
    if (wanted.test(index(signal)) && !heard.test(index(signal))) {
      queries.push_back(Query{listen_sql_[index(signal)].c_str()});
    }
  }
  connection.run(queries);
  for (const Signal signal : kSignals) {
    if (wanted.test(index(signal)) && !heard.test(index(signal))) hub_.deliver(signal, {});
  }
  heard = wanted;
  const std::lock_guard lock{mutex_};
  listening_ = wanted_ == heard;
}

void Notifications::stop_listening() {
  const std::lock_guard lock{mutex_};
  listening_ = false;
}

void Notifications::send(Connection& connection, const Outbox& outbox) {
  std::vector<std::string> channels;
  std::vector<std::string> payloads;
  const auto add = [&](std::string channel, std::string payload) {
    channels.push_back(std::move(channel));
    payloads.push_back(std::move(payload));
  };
  if (outbox.any_work) {
    add(work_.name, "");
  } else {
    for (const std::string& queue : outbox.queues) add(work_.name, queue);
  }
  if (outbox.cancellation) add(kCancel, "");
  if (outbox.any_completion) {
    add(kDone, "");
  } else {
    std::string payload;
    for (std::size_t i = 0; i < outbox.completed.size(); ++i) {
      payload += compact(outbox.completed[i]);
      const bool full = (i + 1) % kIdsInPayload == 0 || i + 1 == outbox.completed.size();
      if (full) add(kDone, std::exchange(payload, {}));
    }
  }
  Query query{kNotify};
  query.parameters.add(std::span<const std::string>{channels})
      .add(std::span<const std::string>{payloads});
  connection.run(std::move(query));
}

}  // namespace errand::postgres
