#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "errand/transport.hpp"

namespace errand::testing {

/// Where a process is killed, by the call of a transport that it makes next or has just made.
struct KillPoint {
  std::string call;  ///< the method
  bool after = false;
};

/// A transport whose process dies, as by kill -9, when it comes to a point.
class DyingTransport final : public Transport {
  template <class Call>
  auto around(const std::string& call, Call&& run) {
    if (call == point_.call && !point_.after) ::raise(SIGKILL);
    auto result = run();
    if (call == point_.call && point_.after) ::raise(SIGKILL);
    return result;
  }

 public:
  DyingTransport(Transport& next, KillPoint point) : next_{next}, point_{std::move(point)} {}

  [[nodiscard]] const std::string& name() const noexcept override { return next_.name(); }
  void setup() override { next_.setup(); }
  void send(std::span<const Outgoing> messages) override {
    around("send", [&] {
      next_.send(messages);
      return 0;
    });
  }
  [[nodiscard]] std::vector<Delivery> receive(std::size_t limit) override {
    return around("receive", [&] { return next_.receive(limit); });
  }
  std::vector<std::optional<Hold>> keep_alive(std::span<const Hold> holds) override {
    return around("keep_alive", [&] { return next_.keep_alive(holds); });
  }
  /// What goes back to this transport goes to the one behind it.
  std::vector<MessageSettleStatus> settle(std::span<const MessageSettlement> settlements) override {
    std::vector<MessageSettlement> unwrapped{settlements.begin(), settlements.end()};
    for (MessageSettlement& settlement : unwrapped) {
      if (settlement.forward && settlement.forward->to == this) settlement.forward->to = &next_;
    }
    if (unwrapped.empty()) return next_.settle(unwrapped);
    return around("settle", [&] { return next_.settle(unwrapped); });
  }
  void release(std::span<const Hold> holds) override { next_.release(holds); }
  [[nodiscard]] std::optional<std::chrono::milliseconds> next_due() override {
    return next_.next_due();
  }
  [[nodiscard]] std::chrono::milliseconds redeliver_timeout() const noexcept override {
    return next_.redeliver_timeout();
  }
  [[nodiscard]] std::chrono::milliseconds granularity() const noexcept override {
    return next_.granularity();
  }
  [[nodiscard]] TransportStats stats() override { return next_.stats(); }
  [[nodiscard]] std::vector<StoredMessage> list(std::size_t limit, std::size_t offset) override {
    return next_.list(limit, offset);
  }
  [[nodiscard]] std::optional<StoredMessage> find(const std::string& id) override {
    return next_.find(id);
  }
  std::size_t remove(std::span<const std::string> ids) override { return next_.remove(ids); }
  [[nodiscard]] MoveStatus move(const std::string& id,
                                const MessageSettlement::Forward& forward) override {
    return next_.move(id, forward);
  }
  std::size_t purge() override { return next_.purge(); }
  [[nodiscard]] Signals& signals() noexcept override { return next_.signals(); }

 private:
  Transport& next_;
  const KillPoint point_;
};

}  // namespace errand::testing
