#include "engine/redis/stream_waker.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "core/block_signals.hpp"
#include "engine/redis/scripts.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{5000};
/// How long the server is asked to wait for a message.
constexpr milliseconds kSilence{15'000};
/// Those of one burst are told of together: whoever was woken takes all there are.
constexpr milliseconds kBurst{1};

}  // namespace

StreamWaker::StreamWaker(ConnectionSettings settings, std::string stream, Logger& logger)
    : settings_{std::move(settings)}, stream_{std::move(stream)}, logger_{logger} {}

StreamWaker::~StreamWaker() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

Subscription StreamWaker::subscribe(Signal signal, Callback callback) {
  std::call_once(started_, [this] {
    thread_ = detail::start_without_signals([this](const std::stop_token& stop) { run(stop); });
  });
  return hub_.subscribe(signal, std::move(callback));
}

void StreamWaker::tell() {
  hub_.deliver(Signal::work, {.queues = std::span<const std::string>{&stream_, 1}});
}

void StreamWaker::pause(const std::stop_token& stop, milliseconds time) {
  std::unique_lock lock{mutex_};
  stopped_.wait_for(lock, stop, time, [] { return false; });
}

void StreamWaker::run(const std::stop_token& stop) {
  milliseconds wait = kFirstPause;
  bool lost = false;
  while (!stop.stop_requested()) {
    try {
      listen(stop, lost);
    } catch (const std::exception& error) {
      if (stop.stop_requested()) return;
      if (!lost || listening_) {
        logger_.warning("Redis cannot tell of messages in " + stream_ +
                        ", polling instead: " + error.what());
      }
      if (listening_) wait = kFirstPause;
      lost = true;
    }
    listening_ = false;
    pause(stop, wait);
    wait = std::min(wait * 2, kLongestPause);
  }
}

void StreamWaker::listen(const std::stop_token& stop, bool again) {
  Connection connection{settings_};
  const std::stop_callback on_stop{stop, [&] { connection.interrupt(); }};
  Command of_stream;
  of_stream.add(stream_).add("");
  const auto newest = [&] {
    return std::string{run_script(connection, stream_scripts().newest, of_stream).value().text()};
  };
  std::string seen = newest();
  listening_ = true;
  if (again) logger_.info("Redis tells of messages in " + stream_ + " again");
  hub_.deliver(Signal::work, {});  // nobody knows what was missed
  while (!stop.stop_requested()) {
    connection.send(Command{"XREAD"}
                        .add("COUNT")
                        .add("1")
                        .add("BLOCK")
                        .add(std::int64_t{kSilence.count()})
                        .add("STREAMS")
                        .add(stream_)
                        .add(seen));
    const std::optional<Reply> reply = connection.receive(2 * kSilence);
    if (stop.stop_requested()) return;
    if (!reply) {
      throw StorageException{"no answer for 30 s", StorageException::Retry::helps};
    }
    check(reply->value());
    if (reply->value().is_nil()) continue;
    seen = reply->value()[0][1][0][0].text();
    tell();
    pause(stop, kBurst);
    if (stop.stop_requested()) return;
    if (std::string last = newest(); last != seen) {
      seen = std::move(last);
      tell();
    }
  }
}

}  // namespace errand::redis
