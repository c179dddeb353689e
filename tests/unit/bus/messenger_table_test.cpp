#include "bus/messenger_table.hpp"

#include <gtest/gtest.h>

#include "errand/errors.hpp"

namespace errand::detail {
namespace {

TEST(MessengerTable, DefaultsAreSymfonys) {
  const MessengerTable table = messenger_table(Dsn{"sqlite:app.db"});
  EXPECT_EQ(table.name, "messenger_messages");
  EXPECT_EQ(table.queue, "default");
  EXPECT_EQ(table.redeliver_timeout, std::chrono::hours{1});
  EXPECT_TRUE(table.auto_setup);
  EXPECT_EQ(table.remove_after.count(), 0);
}

TEST(MessengerTable, TheIndexIsNamedAsDoctrineDoes) {
  EXPECT_EQ(MessengerTable{}.index_name(), "IDX_75EA56E0FB7336F0E3BD61CE16BA31DBBF396750");
}

TEST(MessengerTable, OnlyPostgresHasSchemas) {
  EXPECT_EQ(messenger_table(Dsn{"postgresql://h/d?table_name=app.jobs"}).name, "app.jobs");
  EXPECT_THROW(static_cast<void>(messenger_table(Dsn{"sqlite:a.db?table_name=app.jobs"})),
               ConfigurationException);
  for (const char* name : {"", "1st", "a%20b", "a-b", "a.b.c", "a.", ".b", "a%27b"}) {
    EXPECT_THROW(
        static_cast<void>(messenger_table(Dsn{std::string{"postgresql://h/d?table_name="} + name})),
        ConfigurationException)
        << name;
  }
}

TEST(MessengerTable, AQueueWhoseKeptOneHasNoRoomCannotKeep) {
  const std::string longest(190, 'q');
  EXPECT_NO_THROW(static_cast<void>(messenger_table(Dsn{"sqlite:a.db?queue_name=" + longest})));
  EXPECT_THROW(
      static_cast<void>(messenger_table(Dsn{"sqlite:a.db?remove_after=60&queue_name=" + longest})),
      ConfigurationException);
}

TEST(MessengerTable, HeadersAreAnObjectOfTextsAndNoneAreAnEmptyArray) {
  EXPECT_EQ(wire_headers_json({}), "[]");
  EXPECT_EQ(wire_headers_json({{"type", "App\\M"}}), R"({"type":"App\\M"})");
  EXPECT_EQ(read_wire_headers("[]"), Headers{});
  EXPECT_EQ(read_wire_headers("{}"), Headers{});
  EXPECT_EQ(read_wire_headers(R"({"type":"App\\M"})"), (Headers{{"type", "App\\M"}}));
  for (const char* broken : {"", "null", "[1]", R"({"a":1})", R"({"a":)"}) {
    EXPECT_EQ(read_wire_headers(broken), (Headers{{kUnreadableHeaders, broken}})) << broken;
  }
}

TEST(MessengerTable, ADelayIsRoundedUpToWholeSeconds) {
  using std::chrono::milliseconds;
  const Seconds now{std::chrono::seconds{100}};
  EXPECT_EQ(due_time(now, milliseconds{999}), now + std::chrono::seconds{1});
  EXPECT_EQ(due_time(now, milliseconds{2000}), now + std::chrono::seconds{2});
  EXPECT_EQ(due_time(now, milliseconds{2500}), now + std::chrono::seconds{3});
  EXPECT_EQ(due_time(Timestamp{now} + milliseconds{700}, milliseconds{300}),
            now + std::chrono::seconds{1});
  EXPECT_EQ(due_time(Timestamp{now} + milliseconds{700}, milliseconds{2000}),
            now + std::chrono::seconds{3})
      << "never early";
  EXPECT_EQ(due_time(Timestamp{now} + milliseconds{700}, milliseconds{0}), now) << "at once";
  EXPECT_EQ(due_time(now, milliseconds{-2500}), now);
  EXPECT_EQ(due_time(now, milliseconds::max()), now + std::chrono::years{1000});
}

TEST(MessengerTable, WhatIsNoNumberHoldsNothing) {
  EXPECT_EQ(hold_key({"12", "34"}).id, 12);
  EXPECT_EQ(hold_key({"12", "34"}).since, 34);
  for (const char* id : {"", "x", "1x", "99999999999999999999"}) EXPECT_EQ(row_id(id), 0) << id;
}

}  // namespace
}  // namespace errand::detail
