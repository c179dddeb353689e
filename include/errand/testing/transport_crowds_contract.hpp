#pragma once

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "errand/testing/at_once.hpp"
#include "errand/testing/signal_probe.hpp"
#include "errand/testing/transport_fixture.hpp"

/// Several that use one storage at once: they hear of each other, and share the work.
namespace errand::testing {

TEST_P(TransportContract, TellsThoseWhoWaitThatAMessageCame) {
  const std::unique_ptr<Transport> another = open();
  SignalProbe probe{another->signals(), Signal::work};
  // A connection that listens may be on its way still: what comes after it is told.
  send({"1"});
  EXPECT_TRUE(probe.hears_of_queue(under_test().called()));
}

TEST_P(TransportContract, WhatComesToAnotherQueueWakesNobodyHere) {
  const std::unique_ptr<Transport> other = open("queue_name=other");
  std::mutex mutex;
  Texts heard;
  const Subscription subscription =
      transport().signals().subscribe(Signal::work, [&](const SignalEvent& event) {
        const std::lock_guard lock{mutex};
        heard.insert(heard.end(), event.queues.begin(), event.queues.end());
      });
  SignalProbe probe{transport().signals(), Signal::work};
  send(*other, {"there"});
  send({"here"});  // it comes after: whoever has heard of it would have heard of the other
  EXPECT_TRUE(probe.hears_of_queue(under_test().called()));
  const std::lock_guard lock{mutex};
  EXPECT_EQ(std::ranges::count(heard, under_test().called("other")), 0);
}

TEST_P(TransportContract, ManyConsumersReceiveEachMessageOnce) {
  constexpr std::size_t kMessages = 600;
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < kMessages; ++i) bodies.push_back(std::to_string(i));
  send(bodies);
  std::mutex mutex;
  std::multiset<std::string> seen;
  at_once(6, [&](std::size_t) {
    const std::unique_ptr<Transport> consumer = open();
    while (true) {
      const std::vector<Delivery> batch = consumer->receive(7);
      if (batch.empty()) return;
      std::vector<MessageSettlement> ends;
      for (const Delivery& delivery : batch) ends.push_back({.hold = delivery.hold});
      const std::vector<Status> statuses = consumer->settle(ends);
      const std::lock_guard lock{mutex};
      for (std::size_t i = 0; i < batch.size(); ++i) {
        EXPECT_EQ(statuses[i], Status::settled);
        seen.insert(batch[i].message.body);
      }
    }
  });
  // Rows that others had locked may have been skipped by the last ones to look.
  for (const Delivery& delivery : transport().receive(kMessages)) {
    seen.insert(delivery.message.body);
  }
  EXPECT_EQ(seen, (std::multiset<std::string>{bodies.begin(), bodies.end()}));
}

}  // namespace errand::testing
