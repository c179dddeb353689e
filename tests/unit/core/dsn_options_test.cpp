#include "core/dsn_options.hpp"

#include <gtest/gtest.h>

namespace errand::detail {
namespace {

TEST(DsnOptions, AnOptionIsSetInTheCopyOnly) {
  const Dsn dsn{"postgresql://u:p%40ss@h/d?queue_name=async&sslmode=require"};
  const Dsn changed = with_option(dsn, "queue_name", "failed");
  EXPECT_EQ(changed.secret_text(), "postgresql://u:p%40ss@h/d?sslmode=require&queue_name=failed");
  EXPECT_EQ(dsn.option("queue_name"), "async");
}

TEST(DsnOptions, AnOptionIsAddedWhereThereWasNone) {
  EXPECT_EQ(with_option(Dsn{"sqlite:app.db"}, "queue_name", "failed").secret_text(),
            "sqlite:app.db?queue_name=failed");
}

TEST(DsnOptions, TheValueMayBeAnything) {
  const std::string value = "a&b=c d%/ü";
  EXPECT_EQ(with_option(Dsn{"sqlite:app.db"}, "queue_name", value).option("queue_name"), value);
}

TEST(DsnOptions, AnotherQueueIsNamedAsTheKindOfStorageNamesThem) {
  const auto beside = [](const char* dsn) { return with_queue(Dsn{dsn}, "failed").secret_text(); };
  EXPECT_EQ(beside("sqlite:app.db?queue_name=async"), "sqlite:app.db?queue_name=failed");
  EXPECT_EQ(beside("redis://u:p@h:1/async?dbindex=2"), "redis://u:p@h:1/failed?dbindex=2");
  EXPECT_EQ(beside("redis://h/async/group/me"), "redis://h/failed/group/me");
  EXPECT_EQ(beside("redis://h/?stream=async"), "redis://h/?stream=failed");
  EXPECT_EQ(beside("redis://h"), "redis://h?stream=failed");
  EXPECT_EQ(beside("redis+unix:///r.sock?stream=async"), "redis+unix:///r.sock?stream=failed");
}

}  // namespace
}  // namespace errand::detail
