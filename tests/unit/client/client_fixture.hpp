#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>

#include "errand/tasks.hpp"
#include "errand/testing/fake_clock.hpp"
#include "errand/testing/printing.hpp"

#include "support/faulty_engine.hpp"
#include "support/sqlite_file.hpp"
#include "unit/client/messages.hpp"

namespace errand::testing {

/// A program that submits and waits, and the steps by which a worker would serve it.
class Client : public ::testing::Test {
 protected:
  Client() {
    messages.add<shop::SendEmail>("email.send");
    messages.add<shop::Charge>("card.charge");
  }

  /// Nothing is found by looking now and then: only signals end a wait in time.
  static constexpr WaitOptions kSignalsOnly{.fallback_interval = std::chrono::hours{1}};

  /// Claims the task.
  [[nodiscard]] Lease start(TaskId id) {
    const ClaimBatch batch = other_process->queue().claim(
        {.queues = {kDefaultQueue}, .limit = 100, .worker = "w", .lease = std::chrono::hours{1}});
    for (const Claim& claim : batch.claims) leases_.insert_or_assign(claim.lease.id, claim.lease);
    const auto found = leases_.find(id);
    if (found == leases_.end()) throw std::logic_error{"the task cannot be claimed"};
    return found->second;
  }

  /// Claims the task and ends it.
  void finish(TaskId id, Outcome outcome) {
    const Settlement settlement{start(id), std::move(outcome)};
    if (other_process->queue().settle({&settlement, 1}).front() != SettleStatus::settled) {
      throw std::logic_error{"the task cannot be settled"};
    }
  }

  [[nodiscard]] std::int64_t stored_tasks() { return engine.catalog().list({}, {}).total; }

  SqliteFile file;
  FakeClock clock;
  FaultyEngine engine{file.open(clock)};
  std::unique_ptr<Engine> other_process = file.open(clock);
  MessageTypes messages;
  ExceptionTypes exceptions;
  Tasks tasks{engine, messages, exceptions, kSignalsOnly};

 private:
  std::map<TaskId, Lease> leases_;
};

}  // namespace errand::testing
