#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "errand/redis.hpp"
#include "errand/testing/transport_under_test.hpp"

#include "support/redis_server.hpp"

namespace errand::testing {

/// Streams of its own, by the beginning of their names, on the tests' server.
///
/// Their ids have the time of the fake clock. A server gives no id that is not after the last one:
/// so the clock is ahead of the server's, and whenever it moves, the last id moves with it. How
/// long a delivery is ago the server counts itself; it is told another number.
class RedisTransportUnderTest final : public TransportUnderTest {
 public:
  /// `server`: a DSN without path and options.
  explicit RedisTransportUnderTest(std::string server) : server_{std::move(server)} {
    static std::atomic<int> counter = 0;
    prefix_ = "t" + std::to_string(getpid()) + "_" + std::to_string(++counter) + ":";
    clock_.set(kAhead);
  }
  ~RedisTransportUnderTest() override {
    if (getpid() == owner_) RedisClient{}.remove(prefix_ + "*");
  }
  RedisTransportUnderTest(const RedisTransportUnderTest&) = delete;
  RedisTransportUnderTest& operator=(const RedisTransportUnderTest&) = delete;

  /// A queue is a stream, and so is a table: `queue_name=X` and `table_name=X` open the stream X.
  std::unique_ptr<Transport> open(const std::string& options, TransportOptions::Open how) override {
    std::string queue = "default";
    std::string more;
    for (std::size_t at = 0; at < options.size();) {
      const std::size_t end = std::min(options.find('&', at), options.size());
      const std::string option = options.substr(at, end - at);
      at = end + 1;
      const std::size_t equals = option.find('=');
      const bool names_it = option.starts_with("queue_name=") || option.starts_with("table_name=");
      if (names_it) {
        queue = option.substr(equals + 1);
      } else {
        more += "&" + option;
      }
    }
    TransportOptions transport;
    transport.clock = &clock_;
    transport.open = how;
    const std::string stream = queue.empty() ? "" : called(queue);
    auto opened =
        open_redis_transport(Dsn{server_ + (server_.find('?') == std::string::npos ? "?" : "&") +
                                 "stream=" + stream + more},
                             transport);
    move_last_ids();
    return opened;
  }

  [[nodiscard]] std::string called(const std::string& queue = "default") const override {
    return prefix_ + queue;
  }

  void pass_time(std::chrono::milliseconds time) override {
    clock_.advance(time);
    move_last_ids();
    for (const std::string& stream : streams()) {
      RedisClient{}.run(
          {"EVAL", kAgeDeliveries, "0", stream, "symfony", std::to_string(time.count())});
    }
  }

  std::chrono::milliseconds drift() const override { return std::chrono::minutes{5}; }

  /// What a part of the test in another process has opened is among them.
  [[nodiscard]] std::vector<std::string> streams() const {
    RedisClient client;
    std::vector<std::string> found;
    for (const std::string& key : client.keys(prefix_ + "*")) {
      if (std::string{client.run({"TYPE", key})->str} == "stream") found.push_back(key);
    }
    return found;
  }

 private:
  /// 2100-01-01T00:00:00Z
  static constexpr Timestamp kAhead{std::chrono::seconds{4'102'444'800}};

  static constexpr const char* kAgeDeliveries = R"lua(
local stream, group, ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
if #redis.call('XINFO', 'GROUPS', stream) == 0 then return end
for _, row in ipairs(redis.call('XPENDING', stream, group, '-', '+', 100000)) do
  redis.call('XCLAIM', stream, group, row[2], 0, row[1], 'IDLE', row[3] + ms, 'JUSTID')
end
)lua";

  /// Where ids of this moment were given already, the last one stays.
  void move_last_ids() {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(clock_.now());
    const std::string id = std::to_string(now.time_since_epoch().count()) + "-0";
    for (const std::string& stream : streams()) {
      RedisClient{}.run({"EVAL", "redis.pcall('XSETID', ARGV[1], ARGV[2])", "0", stream, id});
    }
  }

  const pid_t owner_ = getpid();
  std::string server_;
  std::string prefix_;
};

}  // namespace errand::testing
