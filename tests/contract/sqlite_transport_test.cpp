#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>
#include <vector>

#include "errand/sqlite.hpp"
#include "errand/testing/transport_contract.hpp"

#include "support/temp_dir.hpp"

namespace errand::testing {
namespace {

class SqliteTransportUnderTest final : public TransportUnderTest {
 public:
  std::unique_ptr<Transport> open(const std::string& options, TransportOptions::Open how) override {
    TransportOptions transport;
    transport.clock = &clock_;
    transport.open = how;
    return open_sqlite_transport(Dsn{"sqlite://" + path() + "?synchronous=normal&" + options +
                                     (options.empty() ? "ttl=1" : "")},
                                 transport);
  }

  [[nodiscard]] std::string path() const { return (directory_ / "app.db").string(); }

 private:
  TempDir directory_;
};

TransportFactory sqlite() {
  return {"file", [] { return std::make_unique<SqliteTransportUnderTest>(); }};
}

/// The rows as texts, as another program sees them.
std::vector<std::string> query(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  std::vector<std::string> rows;
  sqlite3_exec(
      db, sql.c_str(),
      [](void* out, int columns, char** values, char**) {
        std::string row;
        for (int i = 0; i < columns; ++i) {
          row += (i == 0 ? "" : "|") + std::string{values[i] == nullptr ? "NULL" : values[i]};
        }
        static_cast<std::vector<std::string>*>(out)->push_back(row);
        return 0;
      },
      &rows, nullptr);
  sqlite3_close(db);
  return rows;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, TransportContract, ::testing::Values(sqlite()),
                         transport_factory_name);

TEST(SqliteTransport, ANameThatIsNotPlainIsRefusedByName) {
  SqliteTransportUnderTest under_test;
  for (const std::string option : {"table_name=a;drop", "queue_name="}) {
    try {
      static_cast<void>(under_test.open(option, TransportOptions::Open::create));
      ADD_FAILURE() << option;
    } catch (const ConfigurationException& error) {
      EXPECT_NE(std::string{error.what()}.find(option.substr(0, option.find('='))),
                std::string::npos);
    }
  }
}

TEST(SqliteTransport, TheTableIsSymfonys) {
  SqliteTransportUnderTest under_test;
  static_cast<void>(under_test.open("", TransportOptions::Open::create));
  EXPECT_EQ(
      query(under_test.path(),
            "SELECT name, type, \"notnull\", pk FROM pragma_table_info('messenger_messages')"),
      (std::vector<std::string>{"id|INTEGER|1|1", "body|CLOB|1|0", "headers|CLOB|1|0",
                                "queue_name|VARCHAR(190)|1|0", "created_at|DATETIME|1|0",
                                "available_at|DATETIME|1|0", "delivered_at|DATETIME|0|0"}));
  EXPECT_EQ(query(under_test.path(), "SELECT name FROM pragma_index_list('messenger_messages')"),
            std::vector<std::string>{"IDX_75EA56E0FB7336F0E3BD61CE16BA31DBBF396750"});
}

TEST(SqliteTransport, TheRowIsAsPhpWritesIt) {
  SqliteTransportUnderTest under_test;
  const auto transport = under_test.open("queue_name=high", TransportOptions::Open::create);
  under_test.clock().advance(std::chrono::milliseconds{900});
  const std::vector<Outgoing> messages{
      {.message = {.body = "{}", .headers = {{"type", "App\\M"}}}, .delay = {}},
      {.message = {.body = "{}"}, .delay = std::chrono::milliseconds{2500}}};
  transport->send(messages);
  EXPECT_EQ(query(under_test.path(),
                  "SELECT headers, queue_name, created_at, available_at, delivered_at "
                  "FROM messenger_messages ORDER BY id"),
            (std::vector<std::string>{
                R"({"type":"App\\M"}|high|2025-12-01 10:00:00|2025-12-01 10:00:00|NULL)",
                "[]|high|2025-12-01 10:00:00|2025-12-01 10:00:04|NULL"}));
}

TEST(SqliteTransport, HeadersThatNobodyCanReadAreCarriedWhole) {
  SqliteTransportUnderTest under_test;
  const auto transport = under_test.open("", TransportOptions::Open::create);
  query(under_test.path(),
        "INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at) "
        "VALUES ('b', '{\"type\":[', 'default', '2025-01-01 00:00:00', '2025-01-01 00:00:00')");
  const std::vector<Delivery> deliveries = transport->receive(1);
  ASSERT_EQ(deliveries.size(), 1U);
  EXPECT_EQ(deliveries[0].message.headers,
            (Headers{{"X-Errand-Unreadable-Headers", R"({"type":[)"}}));
}

TEST(SqliteTransport, AMessageIsSentIfTheCallersTransactionCommits) {
  SqliteTransportUnderTest under_test;
  const auto transport = under_test.open("queue_name=async", TransportOptions::Open::create);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(under_test.path().c_str(), &db), SQLITE_OK);
  const auto execute = [&](const char* sql) {
    ASSERT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  };
  const std::vector<Outgoing> messages{outgoing("1"), outgoing("2", std::chrono::seconds{60})};
  EXPECT_THROW(send_in_transaction(db, *transport, messages), ConfigurationException);
  execute("CREATE TABLE withdrawals (id INTEGER PRIMARY KEY)");
  execute("BEGIN; INSERT INTO withdrawals VALUES (1)");
  send_in_transaction(db, *transport, messages);
  execute("ROLLBACK");
  EXPECT_TRUE(transport->list(10, 0).empty());
  execute("BEGIN; INSERT INTO withdrawals VALUES (1)");
  send_in_transaction(db, *transport, messages);
  EXPECT_TRUE(transport->receive(10).empty());
  execute("COMMIT");
  EXPECT_EQ(transport->stats().delayed, 1);
  EXPECT_EQ(bodies_of(transport->receive(10)), std::vector<std::string>{"1"});
  sqlite3_close(db);
}

}  // namespace errand::testing
