#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/message_consumer.hpp"
#include "errand/testing/fake_clock.hpp"
#include "errand/transport.hpp"

#include "distributor_upgrade/database_under_test.hpp"
#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/model/upgrade_history.hpp"
#include "distributor_upgrade/model/withdrawal.hpp"
#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/store/dsn_options.hpp"
#include "distributor_upgrade/upgrade/check_handler.hpp"
#include "distributor_upgrade/upgrade/complete_withdrawal.hpp"
#include "distributor_upgrade/upgrade/upgrade_service.hpp"
#include "support/recording_logger.hpp"

namespace errand::distributors {

/// A ladder of three levels, a distributor at its foot, and a worker. Time passes when the test
/// says so.
class DistributorsTest : public ::testing::TestWithParam<Kind> {
 protected:
  DistributorsTest() {
    database->setup();
    write([&](Session& session) {
      starter = add_level(session, {.rank = 0, .name = "Starter"});
      bronze =
          add_level(session, {.rank = 1, .name = "Bronze", .criteria = "withdrawn_total >= 1000"});
      silver = add_level(
          session,
          {.rank = 2, .name = "Silver", .criteria = "withdrawn_total >= 5000 and team_size >= 2"});
      somebody = add_distributor(session, "Chen Wei", std::nullopt);
    });
    handler.add_to(handlers);
    options.worker.concurrency = 2;
    options.worker.poll_interval = std::chrono::milliseconds{5};
    options.worker.drain = true;
    options.clock = &clock;
    options.class_names = {{kCheckType, kCheckClass}};
  }

  [[nodiscard]] std::unique_ptr<Transport> open(const Dsn& dsn) {
    TransportOptions transport;
    transport.clock = &clock;
    return open_transport(dsn, transport);
  }

  [[nodiscard]] std::unique_ptr<Database> open() {
    DatabaseOptions how;
    how.clock = &clock;
    how.create = true;
    return open_database(storage.dsn(), how);
  }

  void write(const Database::Body& body) { database->write(body); }

  std::int64_t add(const std::string& name, std::int64_t sponsor) {
    std::int64_t id = 0;
    write([&](Session& session) { id = add_distributor(session, name, sponsor); });
    return id;
  }

  void set_criteria(const std::string& level, const std::string& criteria) {
    sql("UPDATE distributor_level SET criteria = '" + criteria + "' WHERE name = '" + level + "'");
  }

  /// The first value, if there is one.
  std::string sql(const std::string& statement) {
    std::string value;
    write([&](Session& session) {
      const Answer answer = session.run(statement);
      if (!answer.rows.empty()) value = answer.rows[0].at(0).text();
    });
    return value;
  }

  std::int64_t pending(std::int64_t cents) {
    std::int64_t id = 0;
    write([&](Session& session) { id = create_withdrawal(session, somebody, cents); });
    return id;
  }

  void complete(std::int64_t withdrawal) {
    write([&](Session& session) { complete_withdrawal(session, sender, withdrawal); });
  }

  /// Completed, without a check.
  void withdraw(std::int64_t distributor, std::int64_t cents) {
    write([&](Session& session) {
      move_withdrawal(session, create_withdrawal(session, distributor, cents),
                      WithdrawalStatus::completed);
    });
  }

  void send(const DistributorUpgradeCheckMessage& message) { sender.send({&message, 1}); }

  /// The worker, until nothing is due.
  WorkerReport drain() {
    MessageConsumer consumer{
        {{.transport = checks.get(), .failure = failures.get()}}, handlers, options, logger};
    return consumer.run({});
  }

  [[nodiscard]] std::string level_of(std::int64_t id) {
    std::string level;
    database->read([&](Session& session) { level = get_distributor(session, id).level; });
    return level;
  }

  [[nodiscard]] WithdrawalStatus status_of(std::int64_t withdrawal) {
    WithdrawalStatus status{};
    database->read(
        [&](Session& session) { status = find_withdrawal(session, withdrawal)->status; });
    return status;
  }

  [[nodiscard]] std::vector<UpgradeRecord> history() {
    std::vector<UpgradeRecord> upgrades;
    database->read(
        [&](Session& session) { upgrades = list_upgrades(session, std::nullopt, 1000); });
    return upgrades;
  }

  /// Every INSERT into `table` fails, until `repair(table)`.
  void break_inserts(const std::string& table) {
    if (storage.kind() == Kind::sqlite) {
      sql("CREATE TRIGGER broken BEFORE INSERT ON " + table +
          " BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END");
    } else {
      sql("CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS "
          "$$ BEGIN RAISE EXCEPTION 'the disk is on fire'; END $$");
      sql("CREATE TRIGGER broken BEFORE INSERT ON " + table +
          " FOR EACH ROW EXECUTE FUNCTION broken()");
    }
  }
  void repair(const std::string& table) {
    sql("DROP TRIGGER broken" + std::string{storage.kind() == Kind::sqlite ? "" : " ON " + table});
  }

  testing::FakeClock clock;
  DatabaseUnderTest storage{GetParam()};
  std::unique_ptr<Transport> checks = open(for_checks(storage.dsn()));
  std::unique_ptr<Transport> failures = open(for_failures(storage.dsn()));
  std::unique_ptr<Database> database = open();
  CheckSender sender{*checks};
  DistributorUpgradeService service{*database};
  DistributorUpgradeCheckHandler handler{service};
  Handlers handlers;
  MessageConsumerOptions options;
  testing::RecordingLogger logger;
  std::int64_t starter = 0;
  std::int64_t bronze = 0;
  std::int64_t silver = 0;
  std::int64_t somebody = 0;
};

inline std::string kind_name(const ::testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::sqlite ? "OnSqlite" : "OnPostgres";
}

}  // namespace errand::distributors
