#include "engine/redis/stream_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string refusal(const std::string& dsn) {
  try {
    static_cast<void>(stream_settings(Dsn{dsn}));
  } catch (const ConfigurationException& error) {
    return error.what();
  }
  return "";
}

TEST(StreamSettings, TheDefaultsAreSymfonys) {
  const StreamSettings settings = stream_settings(Dsn{"redis://h"});
  EXPECT_EQ(settings.stream, "messages");
  EXPECT_EQ(settings.group, "symfony");
  EXPECT_EQ(settings.redeliver_timeout, seconds{3600});
  EXPECT_EQ(settings.claim_interval, milliseconds{60'000});
  EXPECT_TRUE(settings.auto_setup);
  EXPECT_TRUE(settings.delete_after_ack);
  EXPECT_TRUE(settings.delete_after_reject);
  EXPECT_EQ(settings.stream_max_entries, 0);
  EXPECT_EQ(settings.connection.database, 0);
}

TEST(StreamSettings, NamesStandAfterTheHostOrInOptionsAndTheHostComesFirst) {
  const StreamSettings settings =
      stream_settings(Dsn{"redis://h/async/workers/me/?stream=x&group=y&dbindex=3"});
  EXPECT_EQ(settings.stream, "async");
  EXPECT_EQ(settings.group, "workers");
  EXPECT_EQ(settings.consumer, "me");
  EXPECT_EQ(settings.connection.database, 3);
  EXPECT_EQ(stream_settings(Dsn{"redis+unix:///a/b.sock?stream=x&group=y"}).stream, "x");
  EXPECT_EQ(stream_settings(Dsn{"redis+unix:///a/b.sock?stream=x"}).connection.socket, "/a/b.sock");
}

TEST(StreamSettings, WhatOnlyPhpUnderstandsIsAccepted) {
  EXPECT_EQ(refusal("redis://h/async?lazy=1&serializer=1&timeout=1&read_timeout=1&retry_interval=1&"
                    "persistent_id=x"),
            "");
}

TEST(StreamSettings, ThePasswordMayBeAnOption) {
  const StreamSettings settings = stream_settings(Dsn{"redis://u:p@h/async?auth=secret"});
  EXPECT_EQ(settings.connection.user, "");
  EXPECT_EQ(settings.connection.password, "secret");
}

TEST(StreamSettings, ConsumersThatMayBeSilentForShortAreLookedForOften) {
  EXPECT_EQ(stream_settings(Dsn{"redis://h/a?redeliver_timeout=5"}).claim_interval,
            milliseconds{500});
  EXPECT_EQ(stream_settings(Dsn{"redis://h/a?claim_interval=20"}).claim_interval, milliseconds{20});
}

TEST(StreamSettings, MistakesAreNamed) {
  EXPECT_THAT(refusal("redis://h/0"), HasSubstr("dbindex=0"));
  EXPECT_THAT(refusal("redis://h/a/b/c/d"), HasSubstr("stream/group/consumer"));
  EXPECT_THAT(refusal("redis://h/a//c"), HasSubstr("group"));
  EXPECT_THAT(refusal("redis://h/a?stream_max_entries=-1"), HasSubstr("stream_max_entries"));
  EXPECT_THAT(refusal("redis://h/a?queue_name=b"), HasSubstr("stream"));
  EXPECT_THAT(refusal("redis://h/a?ca=file"), HasSubstr("rediss://"));
}

}  // namespace
}  // namespace errand::redis
