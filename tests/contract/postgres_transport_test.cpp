#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "errand/postgres.hpp"
#include "errand/testing/transport_contract.hpp"

#include "contract/postgres_under_test.hpp"

namespace errand::testing {
namespace {

class PostgresTransportUnderTest final : public TransportUnderTest {
 public:
  explicit PostgresTransportUnderTest(std::unique_ptr<PostgresUnderTest> server)
      : server_{std::move(server)} {}

  std::unique_ptr<Transport> open(const std::string& options, TransportOptions::Open how) override {
    TransportOptions transport;
    transport.clock = &clock_;
    transport.open = how;
    return open_postgres_transport(Dsn{*server_->dsn() + (options.empty() ? "" : "&" + options)},
                                   transport);
  }

  [[nodiscard]] const std::string& direct() const noexcept { return server_->direct(); }
  [[nodiscard]] std::string execute(const std::string& sql) const { return server_->execute(sql); }

 private:
  std::unique_ptr<PostgresUnderTest> server_;
};

std::unique_ptr<PostgresTransportUnderTest> in_schema() {
  return std::make_unique<PostgresTransportUnderTest>(PostgresUnderTest::in_schema());
}

TransportFactory postgres() {
  return {"server", [] { return in_schema(); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, TransportContract, ::testing::Values(postgres()),
                         transport_factory_name);

TEST(PostgresTransport, TheTableIsSymfonys) {
  const auto under_test = in_schema();
  static_cast<void>(under_test->open("", TransportOptions::Open::create));
  EXPECT_EQ(
      under_test->execute(
          "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || "
          "CASE WHEN attnotnull THEN '!' ELSE '' END, ', ' ORDER BY attnum) FROM pg_attribute "
          "WHERE attrelid = 'messenger_messages'::regclass AND attnum > 0"),
      "id bigint!, body text!, headers text!, queue_name character varying(190)!, "
      "created_at timestamp(0) without time zone!, available_at timestamp(0) without time zone!, "
      "delivered_at timestamp(0) without time zone");
  EXPECT_EQ(
      under_test->execute("SELECT indexdef LIKE '%(queue_name, available_at, delivered_at, id)' "
                          "FROM pg_indexes WHERE schemaname = current_schema() "
                          "AND indexname = 'idx_75ea56e0fb7336f0e3bd61ce16ba31dbbf396750'"),
      "t");
  EXPECT_EQ(under_test->execute(
                "SELECT pg_get_triggerdef(oid) LIKE '%notify_trigger AFTER INSERT OR UPDATE ON "
                "%messenger_messages FOR EACH ROW EXECUTE FUNCTION %notify_messenger_messages()' "
                "FROM pg_trigger WHERE tgrelid = 'messenger_messages'::regclass"),
            "t");
}

TEST(PostgresTransport, TheRowIsAsPhpWritesIt) {
  const auto under_test = in_schema();
  const auto transport = under_test->open("queue_name=high", TransportOptions::Open::create);
  under_test->clock().advance(std::chrono::milliseconds{900});
  const Outgoing message{.message = {.body = "{}", .headers = {{"type", "App\\M"}}},
                         .delay = std::chrono::milliseconds{2500}};
  transport->send({&message, 1});
  EXPECT_EQ(under_test->execute("SELECT concat_ws('|', headers, queue_name, created_at, "
                                "available_at, delivered_at) FROM messenger_messages"),
            R"({"type":"App\\M"}|high|2025-12-01 10:00:00|2025-12-01 10:00:04)");
}

TEST(PostgresTransport, ATableMayBeInASchemaOfItsOwn) {
  const auto under_test = in_schema();
  const std::string schema = under_test->execute("SELECT current_schema()");
  const auto transport =
      under_test->open("table_name=" + schema + ".jobs", TransportOptions::Open::create);
  SignalProbe beginning{transport->signals(), Signal::work};
  ASSERT_TRUE(beginning.hears());
  SignalProbe probe{transport->signals(), Signal::work};
  const auto another =
      under_test->open("table_name=" + schema + ".jobs", TransportOptions::Open::create);
  const Outgoing message = outgoing("1");
  another->send({&message, 1});
  EXPECT_TRUE(probe.hears_of_queue("default"));
  EXPECT_EQ(transport->receive(1).size(), 1U);
}

TEST(PostgresTransport, ARowThatAnotherProgramInsertsIsHeardOf) {
  const auto under_test = in_schema();
  const auto transport = under_test->open("", TransportOptions::Open::create);
  // Whoever begins to listen is told of everything, once.
  SignalProbe beginning{transport->signals(), Signal::work};
  ASSERT_TRUE(beginning.hears());
  SignalProbe probe{transport->signals(), Signal::work};
  static_cast<void>(under_test->execute(
      "INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at) "
      "VALUES ('{}', '[]', 'default', '2025-01-01', '2025-01-01')"));
  EXPECT_TRUE(probe.hears_of_queue("default"));
}

TEST(PostgresTransport, ANameThatIsNotPlainIsRefusedByName) {
  const auto under_test = in_schema();
  for (const std::string option : {"table_name=a;drop", "queue_name="}) {
    try {
      static_cast<void>(under_test->open(option, TransportOptions::Open::create));
      ADD_FAILURE() << option;
    } catch (const ConfigurationException& error) {
      EXPECT_NE(std::string{error.what()}.find(option.substr(0, option.find('='))),
                std::string::npos);
    }
  }
}

TEST(PostgresTransport, AnErrorDoesNotTellThePassword) {
  try {
    static_cast<void>(open_postgres_transport(
        Dsn{"postgresql://u:hunter2@127.0.0.1:1/db?queue_name=x&nonsense=1"}));
    FAIL() << "an option that nobody knows was taken";
  } catch (const ConfigurationException& error) {
    EXPECT_EQ(std::string{error.what()}.find("hunter2"), std::string::npos);
    EXPECT_NE(std::string{error.what()}.find("queue_name"), std::string::npos);
  }
}

TEST(PostgresTransport, AMessageIsSentIfTheCallersTransactionCommits) {
  const auto under_test = in_schema();
  const auto transport = under_test->open("queue_name=async", TransportOptions::Open::create);
  PGconn* connection = PQconnectdb(under_test->direct().c_str());
  const auto execute = [&](const char* sql) { PQclear(PQexec(connection, sql)); };
  const std::vector<Outgoing> messages{outgoing("1"), outgoing("2", std::chrono::seconds{60})};
  EXPECT_THROW(send_in_transaction(connection, *transport, messages), ConfigurationException);
  execute("BEGIN");
  send_in_transaction(connection, *transport, messages);
  execute("ROLLBACK");
  EXPECT_TRUE(transport->list(10, 0).empty());
  execute("BEGIN");
  send_in_transaction(connection, *transport, messages);
  EXPECT_TRUE(transport->receive(10).empty());
  execute("COMMIT");
  EXPECT_EQ(transport->stats().delayed, 1);
  EXPECT_EQ(bodies_of(transport->receive(10)), std::vector<std::string>{"1"});
  PQfinish(connection);
}

}  // namespace errand::testing
