/// The flows of the requirement, each by its name, on both databases.
#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>

#include "errand/errors.hpp"
#include "errand/testing/child_process.hpp"

#include "distributor_upgrade/distributors_fixture.hpp"
#include "distributor_upgrade/model/not_found.hpp"

namespace errand::distributors {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// Data flow: a withdrawal is completed, a message waits in messenger_messages, a worker takes it,
// the distributor rises and the history says so; or nothing happens; or it is tried again.

class DataFlow : public DistributorsTest {};
INSTANTIATE_TEST_SUITE_P(Distributors, DataFlow, ::testing::Values(Kind::sqlite, Kind::postgres),
                         kind_name);

TEST_P(DataFlow, ACompletedWithdrawalPutsAMessageIntoMessengerMessages) {
  const std::int64_t withdrawal = pending(120'000);
  complete(withdrawal);
  EXPECT_EQ(status_of(withdrawal), WithdrawalStatus::completed);
  const auto messages = checks->list(10, 0);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].message.body,
            "{\"distributorId\":" + std::to_string(somebody) +
                ",\"triggeringWithdrawLedgerId\":" + std::to_string(withdrawal) + "}");
  EXPECT_EQ(messages[0].message.headers.at("type"),
            R"(App\Message\DistributorUpgradeCheckMessage)");
  EXPECT_EQ(sql("SELECT queue_name FROM messenger_messages"), "async_messages");
  EXPECT_LT(sql("SELECT body FROM messenger_messages").size() +
                sql("SELECT headers FROM messenger_messages").size(),
            1024U);
}

TEST_P(DataFlow, TheWorkerUpgradesAndRecordsTheTriggeringWithdrawal) {
  const std::int64_t withdrawal = pending(120'050);
  complete(withdrawal);
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(level_of(somebody), "Bronze");
  const auto upgrades = history();
  ASSERT_EQ(upgrades.size(), 1U);
  EXPECT_EQ(upgrades[0].distributor_id, somebody);
  EXPECT_EQ(upgrades[0].previous_level, "Starter");
  EXPECT_EQ(upgrades[0].new_level, "Bronze");
  EXPECT_EQ(upgrades[0].triggering_withdraw_ledger_id, withdrawal);
  EXPECT_EQ(upgrades[0].upgrade_time, clock.now());
  EXPECT_EQ(upgrades[0].criteria, "withdrawn_total >= 1000");
  EXPECT_THAT(upgrades[0].figures, HasSubstr(R"("withdrawn_total":"1200.50")"));
  EXPECT_EQ(checks->stats().ready, 0);
  EXPECT_TRUE(logger.says("rose from Starter to Bronze"));
}

TEST_P(DataFlow, NothingHappensWhereTheCriteriaDoNotHold) {
  complete(pending(99'999));
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(level_of(somebody), "Starter");
  EXPECT_TRUE(history().empty());
  EXPECT_TRUE(logger.says("no higher level is reached"));
}

TEST_P(DataFlow, AnUnknownDistributorIsAWarningAndTheMessageIsDone) {
  send(DistributorUpgradeCheckMessage{987'654});
  const WorkerReport report = drain();
  EXPECT_EQ(report.completed, 1);
  EXPECT_EQ(report.retried, 0);
  EXPECT_EQ(logger.level_of("there is no distributor 987654"), Logger::Level::warning);
  EXPECT_TRUE(failures->list(10, 0).empty());
}

TEST_P(DataFlow, AnUnknownWithdrawalIsLoggedAndTheUpgradeHasNoLink) {
  withdraw(somebody, 120'000);
  send(DistributorUpgradeCheckMessage{somebody, 555});
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(logger.level_of("there is no withdrawal 555"), Logger::Level::warning);
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].triggering_withdraw_ledger_id, std::nullopt);
}

TEST_P(DataFlow, AWithdrawalOfSomebodyElseIsNotLinked) {
  withdraw(somebody, 120'000);
  std::int64_t other = 0;
  write([&](Session& session) {
    other = create_withdrawal(session, add_distributor(session, "Li Na", std::nullopt), 100);
  });
  send(DistributorUpgradeCheckMessage{somebody, other});
  drain();
  EXPECT_EQ(logger.level_of("withdrawal 2 is distributor 2's"), Logger::Level::warning);
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].triggering_withdraw_ledger_id, std::nullopt);
}

TEST_P(DataFlow, AWithdrawalThatIsNotCompletedIsNotLinked) {
  withdraw(somebody, 120'000);
  send(DistributorUpgradeCheckMessage{somebody, pending(1)});
  drain();
  EXPECT_EQ(logger.level_of("withdrawal 2 is pending, not completed"), Logger::Level::warning);
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].triggering_withdraw_ledger_id, std::nullopt);
}

TEST_P(DataFlow, CriteriaThatFailFurtherUpAreAWarningAndTheUpgradeIsMade) {
  set_criteria("Silver", "withdrawn_totel >= 1");
  complete(pending(120'000));
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(level_of(somebody), "Bronze");
  EXPECT_EQ(logger.level_of("may have reached more: level Silver: criteria, at character 1"),
            Logger::Level::warning);
}

TEST_P(DataFlow, ABodyThatIsNoCheckGoesToFailedMessagesAtOnce) {
  const Outgoing wrong{
      .message = {.body = R"({"distributorId":"twelve"})", .headers = {{"type", kCheckClass}}}};
  checks->send({&wrong, 1});
  EXPECT_EQ(drain().failed, 1);
  EXPECT_EQ(sql("SELECT count(*) FROM failed_messages"), "1");
}

// Retry flow: a handler that throws is tried again after 1, 5 and 25 seconds, then failed_messages.

class RetryFlow : public DistributorsTest {
 protected:
  /// How long until the only message that waits is due.
  [[nodiscard]] seconds wait() {
    const auto messages = checks->list(10, 0);
    EXPECT_EQ(messages.size(), 1U);
    return std::chrono::duration_cast<seconds>(messages.at(0).available_at - clock.now());
  }

  void break_criteria() { set_criteria("Bronze", "withdrawn_totel >= 1000"); }
};
INSTANTIATE_TEST_SUITE_P(Distributors, RetryFlow, ::testing::Values(Kind::sqlite, Kind::postgres),
                         kind_name);

TEST_P(RetryFlow, RuleFailuresAreTriedAgainAfter1And5And25SecondsThenFailedMessages) {
  complete(pending(120'000));
  break_criteria();
  for (const seconds expected : {seconds{1}, seconds{5}, seconds{25}}) {
    EXPECT_EQ(drain().retried, 1);
    EXPECT_EQ(wait(), expected);
    EXPECT_EQ(drain().retried, 0) << "not before it is due";
    clock.advance(expected);
  }
  EXPECT_EQ(drain().failed, 1);
  EXPECT_EQ(checks->stats().ready + checks->stats().delayed, 0);
  EXPECT_EQ(sql("SELECT count(*) FROM failed_messages"), "1");
  const auto dead = failures->list(10, 0);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_THAT(dead[0].message.body, HasSubstr("\"distributorId\":" + std::to_string(somebody)));
  const std::string story = dead[0].message.headers.at(
      R"(X-Message-Stamp-Symfony\Component\Messenger\Stamp\ErrorDetailsStamp)");
  EXPECT_THAT(story, HasSubstr("distributor 1: level Bronze: criteria, at character 1"));
  EXPECT_EQ(level_of(somebody), "Starter");
}

TEST_P(RetryFlow, ARetryThatSucceedsEndsTheMessage) {
  const std::int64_t withdrawal = pending(120'000);
  complete(withdrawal);
  break_criteria();
  EXPECT_EQ(drain().retried, 1);
  set_criteria("Bronze", "withdrawn_total >= 1000");
  clock.advance(seconds{1});
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(level_of(somebody), "Bronze");
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].triggering_withdraw_ledger_id, withdrawal);
  EXPECT_TRUE(failures->list(10, 0).empty());
}

TEST_P(RetryFlow, ADatabaseThatFailsForAWhileIsTriedAgain) {
  complete(pending(120'000));
  sql("ALTER TABLE distributor_rules RENAME TO away");
  EXPECT_EQ(drain().retried, 1);
  sql("ALTER TABLE away RENAME TO distributor_rules");
  clock.advance(seconds{1});
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(level_of(somebody), "Bronze");
}

// Idempotency: the same check, however often and at once, is one upgrade with one row of history.

class Idempotency : public DistributorsTest {};
INSTANTIATE_TEST_SUITE_P(Distributors, Idempotency, ::testing::Values(Kind::sqlite, Kind::postgres),
                         kind_name);

TEST_P(Idempotency, AHundredDuplicatesAreOneUpgrade) {
  withdraw(somebody, 120'000);
  const std::vector<DistributorUpgradeCheckMessage> messages(
      100, DistributorUpgradeCheckMessage{somebody});
  sender.send(messages);
  options.worker.concurrency = 8;
  EXPECT_EQ(drain().completed, 100);
  EXPECT_EQ(level_of(somebody), "Bronze");
  EXPECT_EQ(history().size(), 1U);
}

TEST_P(Idempotency, ChecksAtTheSameMomentAreOneUpgrade) {
  withdraw(somebody, 120'000);
  std::atomic<int> upgrades = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        if (service.check_and_upgrade(somebody).upgrade) ++upgrades;
      });
    }
  }
  EXPECT_EQ(upgrades, 1);
  EXPECT_EQ(history().size(), 1U);
}

TEST_P(Idempotency, AWorkerThatDiesBetweenTheUpgradeAndTheAckIsOneUpgrade) {
  const std::int64_t withdrawal = pending(120'000);
  complete(withdrawal);
  testing::ChildProcess child{[&] {
    const auto own = open();
    const auto own_checks = open(for_checks(storage.dsn()));
    const auto own_failures = open(for_failures(storage.dsn()));
    DistributorUpgradeService own_service{*own};
    const DistributorUpgradeCheckHandler own_handler{own_service};
    Handlers dying;
    own_handler.add_to(dying);
    dying.use([](const Envelope&, TaskContext&, const Next& next) -> std::string {
      (void)next();
      ::_exit(9);
    });
    MessageConsumer consumer{
        {{.transport = own_checks.get(), .failure = own_failures.get()}}, dying, options, logger};
    consumer.run({});
  }};
  EXPECT_EQ(WEXITSTATUS(child.wait()), 9);
  EXPECT_EQ(level_of(somebody), "Bronze");
  EXPECT_EQ(checks->stats().in_flight, 1) << "nobody has acknowledged the message";
  clock.advance(checks->redeliver_timeout() + seconds{1});
  EXPECT_EQ(drain().completed, 1);
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].triggering_withdraw_ledger_id, withdrawal);
  EXPECT_EQ(checks->stats().in_flight + checks->stats().ready, 0);
}

TEST_P(Idempotency, WhoeverIsAtTheLevelAlreadyIsLeftAlone) {
  withdraw(somebody, 120'000);
  EXPECT_TRUE(service.check_and_upgrade(somebody).upgrade);
  EXPECT_FALSE(service.check_and_upgrade(somebody).upgrade);
  EXPECT_EQ(history().size(), 1U);
}

TEST_P(Idempotency, TheDatabaseRefusesASecondRowForTheSameChange) {
  withdraw(somebody, 120'000);
  service.check_and_upgrade(somebody);
  EXPECT_THROW(
      sql("INSERT INTO distributor_level_upgrade_history (distributor_id, distributor_version, "
          "previous_level_id, new_level_id, criteria, figures, upgrade_time) SELECT "
          "distributor_id, distributor_version, previous_level_id, new_level_id, criteria, "
          "figures, upgrade_time FROM distributor_level_upgrade_history"),
      StorageException);
}

TEST_P(Idempotency, CompletingAWithdrawalTwiceSendsOneMessage) {
  const std::int64_t withdrawal = pending(120'000);
  complete(withdrawal);
  EXPECT_THROW(complete(withdrawal), NotPossible);
  EXPECT_EQ(checks->list(10, 0).size(), 1U);
}

// Transaction boundary: the withdrawal's state and the message, the level and its history, are
// there together or not at all.

class TransactionBoundary : public DistributorsTest {};
INSTANTIATE_TEST_SUITE_P(Distributors, TransactionBoundary,
                         ::testing::Values(Kind::sqlite, Kind::postgres), kind_name);

TEST_P(TransactionBoundary, AMessageThatCannotBeWrittenLeavesTheWithdrawalAsItWas) {
  const std::int64_t withdrawal = pending(120'000);
  break_inserts("messenger_messages");
  EXPECT_THROW(complete(withdrawal), StorageException);
  EXPECT_EQ(status_of(withdrawal), WithdrawalStatus::pending);
  repair("messenger_messages");
  EXPECT_TRUE(checks->list(10, 0).empty());
  complete(withdrawal);
  EXPECT_EQ(status_of(withdrawal), WithdrawalStatus::completed);
  EXPECT_EQ(checks->list(10, 0).size(), 1U);
}

/// A session in which something happens at the moment when the message is to be sent: the state
/// has changed by then.
class InterruptedSession final : public Session {
 public:
  InterruptedSession(Session& next, std::function<void()> before, std::function<void()> after)
      : next_{next}, before_{std::move(before)}, after_{std::move(after)} {}

  Answer run(const std::string& sql, const std::vector<Parameter>& parameters) override {
    return next_.run(sql, parameters);
  }
  void send(const Transport& to, std::span<const Outgoing> messages) override {
    before_();
    next_.send(to, messages);
    after_();
  }
  [[nodiscard]] bool has_table(const std::string& name) override { return next_.has_table(name); }
  [[nodiscard]] std::string sponsored_by(std::string_view member) const override {
    return next_.sponsored_by(member);
  }
  [[nodiscard]] Timestamp now() const noexcept override { return next_.now(); }

 private:
  Session& next_;
  const std::function<void()> before_;
  const std::function<void()> after_;
};

constexpr auto kNothing = [] {};
constexpr auto kFault = [] { throw std::runtime_error{"a fault"}; };

TEST_P(TransactionBoundary, AFaultBetweenStateAndMessageLeavesNeither) {
  const std::int64_t withdrawal = pending(120'000);
  EXPECT_THROW(write([&](Session& session) {
                 InterruptedSession interrupted{session, kFault, kNothing};
                 complete_withdrawal(interrupted, sender, withdrawal);
               }),
               std::runtime_error);
  EXPECT_EQ(status_of(withdrawal), WithdrawalStatus::pending);
  EXPECT_TRUE(checks->list(10, 0).empty());
}

TEST_P(TransactionBoundary, AFaultAfterTheMessageLeavesNeither) {
  const std::int64_t withdrawal = pending(120'000);
  EXPECT_THROW(write([&](Session& session) {
                 InterruptedSession interrupted{session, kNothing, kFault};
                 complete_withdrawal(interrupted, sender, withdrawal);
               }),
               std::runtime_error);
  EXPECT_EQ(status_of(withdrawal), WithdrawalStatus::pending);
  EXPECT_TRUE(checks->list(10, 0).empty());
}

TEST_P(TransactionBoundary, AProcessThatDiesBetweenStateAndMessageLeavesNeither) {
  const std::int64_t withdrawal = pending(120'000);
  testing::ChildProcess child{[&] {
    const auto own = open();
    const auto own_checks = open(for_checks(storage.dsn()));
    const CheckSender own_sender{*own_checks};
    own->write([&](Session& session) {
      InterruptedSession interrupted{session, [] { ::_exit(9); }, kNothing};
      complete_withdrawal(interrupted, own_sender, withdrawal);
    });
  }};
  EXPECT_EQ(WEXITSTATUS(child.wait()), 9);
  EXPECT_EQ(status_of(withdrawal), WithdrawalStatus::pending);
  EXPECT_TRUE(checks->list(10, 0).empty());
}

TEST_P(TransactionBoundary, AHistoryThatCannotBeWrittenLeavesTheLevelAsItWas) {
  complete(pending(120'000));
  break_inserts("distributor_level_upgrade_history");
  EXPECT_EQ(drain().retried, 1);
  EXPECT_EQ(level_of(somebody), "Starter");
  repair("distributor_level_upgrade_history");
  clock.advance(seconds{1});
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(level_of(somebody), "Bronze");
  EXPECT_EQ(history().size(), 1U);
}

}  // namespace
}  // namespace errand::distributors
