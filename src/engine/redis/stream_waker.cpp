#include "engine/redis/stream_waker.hpp"

#include <chrono>
#include <span>
#include <utility>

#include "engine/redis/scripts.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

/// How long the server is asked to wait for a message.
constexpr milliseconds kSilence{15'000};
/// Those of one burst are told of together: whoever was woken takes all there are.
constexpr milliseconds kBurst{1};

}  // namespace

StreamWaker::StreamWaker(ConnectionSettings settings, std::string stream, Logger& logger)
    : stream_{std::move(stream)},
      listener_{std::move(settings), "messages in " + stream_, logger,
                [this](Connection& connection, const std::stop_token& stop) {
                  listen(connection, stop);
                }} {}

Subscription StreamWaker::subscribe(Signal signal, Callback callback) {
  listener_.start();
  return hub_.subscribe(signal, std::move(callback));
}

void StreamWaker::tell() {
  hub_.deliver(Signal::work, {.queues = std::span<const std::string>{&stream_, 1}});
}

void StreamWaker::listen(Connection& connection, const std::stop_token& stop) {
  Command of_stream;
  of_stream.add(stream_).add("");
  const auto newest = [&] {
    return std::string{run_script(connection, stream_scripts().newest, of_stream).value().text()};
  };
  std::string seen = newest();
  listener_.begins_to_hear();
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
    listener_.pause(stop, kBurst);
    if (stop.stop_requested()) return;
    if (std::string last = newest(); last != seen) {
      seen = std::move(last);
      tell();
    }
  }
}

}  // namespace errand::redis
