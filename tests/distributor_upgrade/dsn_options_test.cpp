#include "distributor_upgrade/store/dsn_options.hpp"

#include <gmock/gmock.h>

#include "errand/errors.hpp"

namespace errand::distributors {
namespace {

using ::testing::HasSubstr;

TEST(DsnOptions, LibpqIsNotToldWhatIsErrandsOwn) {
  const Dsn dsn{
      "postgresql://app:secret@db/shop?queue_name=q&sslmode=require&reply_timeout=5&ttl=9&"
      "connections=3&application_name=x&redeliver_timeout=7&auto_setup=no"};
  const PostgresOptions options = postgres_options(dsn);
  EXPECT_EQ(options.uri, "postgresql://app:secret@db/shop?sslmode=require&application_name=x");
  EXPECT_EQ(options.reply_timeout, std::chrono::seconds{5});
  EXPECT_EQ(options.connections, 3U);
}

TEST(DsnOptions, WithoutOptionsThereAreDefaults) {
  const PostgresOptions options = postgres_options(Dsn{"postgresql://db/shop"});
  EXPECT_EQ(options.uri, "postgresql://db/shop");
  EXPECT_EQ(options.reply_timeout, std::chrono::seconds{60});
  EXPECT_EQ(options.connections, 10U);
}

TEST(DsnOptions, AWrongNumberIsNamedAndThePasswordIsNot) {
  try {
    (void)postgres_options(Dsn{"postgresql://app:secret@db/shop?connections=0"});
    FAIL() << "nothing was wrong";
  } catch (const ConfigurationException& error) {
    EXPECT_THAT(error.what(), HasSubstr("connections=0 is not a number of 1 to 1000"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("secret")));
  }
  EXPECT_THROW((void)postgres_options(Dsn{"postgresql://db/shop?reply_timeout=soon"}),
               ConfigurationException);
}

TEST(DsnOptions, ChecksWaitInAsyncMessagesUnlessTheDsnSaysOtherwise) {
  const Dsn checks = for_checks(Dsn{"sqlite:a.db"});
  EXPECT_EQ(checks.option("queue_name"), "async_messages");
  EXPECT_EQ(checks.option("remove_after"), "604800");
  const Dsn own = for_checks(Dsn{"sqlite:a.db?queue_name=q&remove_after=1"});
  EXPECT_EQ(own.option("queue_name"), "q");
  EXPECT_EQ(own.option("remove_after"), "1");
}

TEST(DsnOptions, FailuresAreInATableOfTheirOwnAndStayThere) {
  const Dsn failures =
      for_failures(Dsn{"sqlite:a.db?queue_name=q&table_name=t&remove_after=1&synchronous=full"});
  EXPECT_EQ(failures.option("table_name"), "failed_messages");
  EXPECT_EQ(failures.option("queue_name"), "failed_messages");
  EXPECT_EQ(failures.option("remove_after"), std::nullopt);
  EXPECT_EQ(failures.option("synchronous"), "full");
}

TEST(DsnOptions, OnSqliteAnOptionThatNobodyReadsIsNamed) {
  EXPECT_NO_THROW(check_sqlite_options(Dsn{"sqlite:a.db?queue_name=q&synchronous=normal"}));
  try {
    check_sqlite_options(Dsn{"sqlite:a.db?queue=q"});
    FAIL();
  } catch (const ConfigurationException& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("SQLite has no option `queue`"));
  }
}

}  // namespace
}  // namespace errand::distributors
