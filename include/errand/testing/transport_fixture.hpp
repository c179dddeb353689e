#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "errand/testing/transport_under_test.hpp"
#include "errand/transport.hpp"

namespace errand::testing {

[[nodiscard]] inline Outgoing outgoing(std::string body, std::chrono::milliseconds delay = {}) {
  return {.message = {.body = std::move(body), .headers = {{"type", "App\\Message\\Contract"}}},
          .delay = delay};
}

[[nodiscard]] inline std::vector<std::string> bodies_of(const std::vector<Delivery>& deliveries) {
  std::vector<std::string> bodies;
  for (const Delivery& delivery : deliveries) bodies.push_back(delivery.message.body);
  return bodies;
}

/// What the tests of the contract stand on. A step that cannot be taken throws, which fails the
/// test.
class TransportContract : public ::testing::TestWithParam<TransportFactory> {
 protected:
  using Status = MessageSettleStatus;
  using Texts = std::vector<std::string>;

  TransportContract() : under_test_{GetParam().make()}, transport_{under_test_->open()} {}

  [[nodiscard]] Transport& transport() noexcept { return *transport_; }
  [[nodiscard]] std::unique_ptr<Transport> open(const std::string& options = "") {
    return under_test_->open(options);
  }
  [[nodiscard]] TransportUnderTest& under_test() noexcept { return *under_test_; }
  void pass(std::chrono::milliseconds time) { under_test_->pass_time(time); }
  [[nodiscard]] std::chrono::milliseconds drift() const { return under_test_->drift(); }
  [[nodiscard]] Timestamp now() { return under_test_->clock().now(); }

  static void send(Transport& to, const std::vector<std::string>& bodies,
                   std::chrono::milliseconds delay = {}) {
    std::vector<Outgoing> messages;
    for (const std::string& body : bodies) messages.push_back(outgoing(body, delay));
    to.send(messages);
  }
  void send(const std::vector<std::string>& bodies, std::chrono::milliseconds delay = {}) {
    send(transport(), bodies, delay);
  }

  static Delivery receive_one(Transport& from) {
    std::vector<Delivery> deliveries = from.receive(1);
    if (deliveries.size() != 1) throw std::runtime_error{"no message to receive"};
    return std::move(deliveries.front());
  }
  Delivery receive_one() { return receive_one(transport()); }

  static Status settle(Transport& in, const Hold& hold,
                       std::optional<MessageSettlement::Forward> forward = {}) {
    const MessageSettlement settlement{hold, std::move(forward)};
    const std::vector<Status> statuses = in.settle({&settlement, 1});
    if (statuses.size() != 1) throw std::runtime_error{"settle gave not one status for one hold"};
    return statuses.front();
  }
  Status settle(const Hold& hold, std::optional<MessageSettlement::Forward> forward = {}) {
    return settle(transport(), hold, std::move(forward));
  }

  std::optional<Hold> keep_alive(const Hold& hold) {
    const std::vector<std::optional<Hold>> holds = transport().keep_alive({&hold, 1});
    if (holds.size() != 1) throw std::runtime_error{"keep_alive gave not one hold for one"};
    return holds.front();
  }

 private:
  std::unique_ptr<TransportUnderTest> under_test_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace errand::testing
