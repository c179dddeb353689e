#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"

#include "engine/redis/settings.hpp"

namespace errand::redis {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedisSettings, AHostAloneIsEnough) {
  const DatabaseSettings settings = settings_of(Dsn{"redis://queue.example"});
  EXPECT_EQ(settings.connection.host, "queue.example");
  EXPECT_EQ(settings.connection.port, 6379);
  EXPECT_EQ(settings.connection.database, 0);
  EXPECT_FALSE(settings.connection.tls);
  EXPECT_FALSE(settings.connection.durable);
  EXPECT_EQ(settings.ttl, std::chrono::hours{24});
  EXPECT_EQ(settings.prefix, "");
  EXPECT_EQ(settings.record, RecordKind::shared);
}

TEST(RedisSettings, EverythingCanBeSaid) {
  const DatabaseSettings settings = settings_of(
      Dsn{"rediss://u:p@h:6380/3?ttl=60&connections=2&connect_timeout=1&reply_timeout=2&durable=1&"
          "prefix=shop:&record=compact&ca=a&cert=b&key=c"});
  EXPECT_EQ(settings.connection.user, "u");
  EXPECT_EQ(settings.connection.password, "p");
  EXPECT_EQ(settings.connection.port, 6380);
  EXPECT_EQ(settings.connection.database, 3);
  EXPECT_TRUE(settings.connection.tls);
  EXPECT_TRUE(settings.connection.durable);
  EXPECT_EQ(settings.connection.ca, "a");
  EXPECT_EQ(settings.connection.cert, "b");
  EXPECT_EQ(settings.connection.key, "c");
  EXPECT_EQ(settings.connection.connect_timeout, seconds{1});
  EXPECT_EQ(settings.connection.reply_timeout, seconds{2});
  EXPECT_EQ(settings.most_connections, 2U);
  EXPECT_EQ(settings.ttl, seconds{60});
  EXPECT_EQ(settings.prefix, "shop:");
  EXPECT_EQ(settings.record, RecordKind::compact);
}

TEST(RedisSettings, ASocketTakesItsDatabaseAsAnOption) {
  const DatabaseSettings settings = settings_of(Dsn{"redis+unix:///run/redis.sock?database=4"});
  EXPECT_EQ(settings.connection.socket, "/run/redis.sock");
  EXPECT_EQ(settings.connection.database, 4);
}

TEST(RedisSettings, WhatIsWrongIsNamedWithoutThePassword) {
  struct Case {
    const char* dsn;
    const char* named;
  };
  for (const Case& wrong : {Case{"redis://u:hidden@h?color=red", "no option color"},
                            Case{"redis://u:hidden@h?record=small", "shared or compact"},
                            Case{"redis://u:hidden@h/stream/group", "number of a database"},
                            Case{"redis://u:hidden@h/-1", "number of a database"},
                            Case{"redis://u:hidden@h/70000", "number of a database"},
                            Case{"redis://u:hidden@h/1?database=1", "given twice"},
                            Case{"redis://u:hidden@h?ca=x", "rediss://"},
                            Case{"rediss://u:hidden@h?cert=x", "cert and key"},
                            Case{"redis://u:hidden@h?prefix=a*", "prefix"},
                            Case{"redis://u:hidden@h?durable=perhaps", "durable"},
                            Case{"redis://u:hidden@h?reply_timeout=0", "at least 1"},
                            Case{"redis://u:hidden@h?connections=0", "connections"}}) {
    try {
      static_cast<void>(settings_of(Dsn{wrong.dsn}));
      ADD_FAILURE() << wrong.dsn << " was taken";
    } catch (const ConfigurationException& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(wrong.named), Not(HasSubstr("hidden"))));
    }
  }
}

}  // namespace
}  // namespace errand::redis
