#include "errand/dsn.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "errand/errors.hpp"

namespace errand {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(std::string_view text) {
  try {
    const Dsn dsn{text};
    return "no error";
  } catch (const ConfigurationException& error) {
    return error.what();
  }
}

struct Expected {
  EngineKind kind;
  std::string scheme, user, password, host;
  std::optional<std::uint16_t> port;
  std::string path;
  std::map<std::string, std::string, std::less<>> options;
};

void expect_parsed(const std::string& text, const Expected& expected) {
  SCOPED_TRACE(text);
  const Dsn dsn{text};
  EXPECT_EQ(dsn.kind(), expected.kind);
  EXPECT_EQ(dsn.scheme(), expected.scheme);
  EXPECT_EQ(dsn.user(), expected.user);
  EXPECT_EQ(dsn.password(), expected.password);
  EXPECT_EQ(dsn.host(), expected.host);
  EXPECT_EQ(dsn.port(), expected.port);
  EXPECT_EQ(dsn.path(), expected.path);
  EXPECT_EQ(dsn.options(), expected.options);
  EXPECT_EQ(dsn.secret_text(), text);
}

constexpr auto kNoPort = std::nullopt;

TEST(Dsn, NamesASqliteFile) {
  const auto file = [](const std::string& path) {
    return Expected{EngineKind::sqlite, "sqlite", "", "", "", kNoPort, path, {}};
  };
  expect_parsed("sqlite:errand.db", file("errand.db"));
  expect_parsed("sqlite:./var/errand.db", file("./var/errand.db"));
  expect_parsed("sqlite:///var/lib/errand.db", file("/var/lib/errand.db"));
  expect_parsed("sqlite:/var/lib/errand.db", file("/var/lib/errand.db"));
  expect_parsed("SQLite:errand.db", file("errand.db"));
  expect_parsed("sqlite:a%20b%3F.db", file("a b?.db"));
  expect_parsed("sqlite:任务.db", file("任务.db"));
  expect_parsed("sqlite:me@home:1.db", file("me@home:1.db"));
}

TEST(Dsn, HasOptions) {
  expect_parsed("sqlite:e.db?synchronous=normal&ttl=60&note=a%26b%3Dc&empty=",
                {EngineKind::sqlite,
                 "sqlite",
                 "",
                 "",
                 "",
                 kNoPort,
                 "e.db",
                 {{"synchronous", "normal"}, {"ttl", "60"}, {"note", "a&b=c"}, {"empty", ""}}});
  const Dsn dsn{"sqlite:e.db?ttl=60"};
  EXPECT_EQ(dsn.option("ttl"), "60");
  EXPECT_EQ(dsn.option("TTL"), std::nullopt);
  EXPECT_EQ(dsn.option("other"), std::nullopt);
}

TEST(Dsn, NamesAServer) {
  expect_parsed("mysql://shop:pw@db.example:3307/orders",
                {EngineKind::mysql, "mysql", "shop", "pw", "db.example", 3307, "orders", {}});
  expect_parsed("mysql://db/orders",
                {EngineKind::mysql, "mysql", "", "", "db", kNoPort, "orders", {}});
  expect_parsed("mysql://shop@db/orders",
                {EngineKind::mysql, "mysql", "shop", "", "db", kNoPort, "orders", {}});
  expect_parsed("mysql://shop:@db/orders",
                {EngineKind::mysql, "mysql", "shop", "", "db", kNoPort, "orders", {}});
  expect_parsed("mysql://u%40x:p%40%3A%2F%3F%25@h/d",
                {EngineKind::mysql, "mysql", "u@x", "p@:/?%", "h", kNoPort, "d", {}});
  expect_parsed("mysql://u:a:b:c@h/d",
                {EngineKind::mysql, "mysql", "u", "a:b:c", "h", kNoPort, "d", {}});
  expect_parsed("mysql://u:p@[::1]:3306/d",
                {EngineKind::mysql, "mysql", "u", "p", "::1", 3306, "d", {}});
  expect_parsed("mysql://u:p@[fe80::1]/d",
                {EngineKind::mysql, "mysql", "u", "p", "fe80::1", kNoPort, "d", {}});
}

TEST(Dsn, NamesARedisServer) {
  expect_parsed("redis://host", {EngineKind::redis, "redis", "", "", "host", kNoPort, "", {}});
  expect_parsed("redis://u:p@host:6379/0",
                {EngineKind::redis, "redis", "u", "p", "host", 6379, "0", {}});
  expect_parsed("rediss://:p@host:6380/1",
                {EngineKind::redis, "rediss", "", "p", "host", 6380, "1", {}});
  expect_parsed("redis://host:6379/stream/group/consumer?dbindex=2", {EngineKind::redis,
                                                                      "redis",
                                                                      "",
                                                                      "",
                                                                      "host",
                                                                      6379,
                                                                      "stream/group/consumer",
                                                                      {{"dbindex", "2"}}});
  expect_parsed("redis+unix:///run/redis.sock",
                {EngineKind::redis, "redis+unix", "", "", "", kNoPort, "/run/redis.sock", {}});
  expect_parsed("redis+unix://u:p@/run/redis.sock",
                {EngineKind::redis, "redis+unix", "u", "p", "", kNoPort, "/run/redis.sock", {}});
}

TEST(Dsn, OfRedisWithOneWordBeforeTheHostHasAPasswordOnly) {
  expect_parsed("redis://hunter2@host",
                {EngineKind::redis, "redis", "", "hunter2", "host", kNoPort, "", {}});
  EXPECT_EQ(Dsn{"redis://hunter2@host"}.to_string(), "redis://***@host");
}

TEST(Dsn, TakesEveryUriOfLibpq) {
  const std::string name = "postgresql";
  const EngineKind kind = EngineKind::postgres;
  expect_parsed("postgresql://u:p@h:5432/d?sslmode=require",
                {kind, name, "u", "p", "h", 5432, "d", {{"sslmode", "require"}}});
  expect_parsed("postgres://u:p@h/d", {kind, name, "u", "p", "h", kNoPort, "d", {}});
  expect_parsed("postgresql://", {kind, name, "", "", "", kNoPort, "", {}});
  expect_parsed("postgresql:///d", {kind, name, "", "", "", kNoPort, "d", {}});
  expect_parsed("postgresql:///d?host=/run/postgresql",
                {kind, name, "", "", "", kNoPort, "d", {{"host", "/run/postgresql"}}});
  expect_parsed("postgresql://?service=shop",
                {kind, name, "", "", "", kNoPort, "", {{"service", "shop"}}});
  expect_parsed("postgresql://h:5433", {kind, name, "", "", "h", 5433, "", {}});
  expect_parsed("postgresql://h:/d", {kind, name, "", "", "h", kNoPort, "d", {}});
  expect_parsed("postgresql://:5433/d", {kind, name, "", "", "", 5433, "d", {}});
  expect_parsed("postgresql://%2Frun%2Fpostgresql/d",
                {kind, name, "", "", "/run/postgresql", kNoPort, "d", {}});
  expect_parsed(
      "postgresql://u@h1:5432,h2,[::1]:5433/d?target_session_attrs=read-write",
      {kind, name, "u", "", "h1,h2,::1", kNoPort, "d", {{"target_session_attrs", "read-write"}}});
}

TEST(Dsn, ShowsEverythingButPasswords) {
  const std::pair<const char*, const char*> cases[] = {
      {"sqlite:errand.db?ttl=60", "sqlite:errand.db?ttl=60"},
      {"sqlite:///var/errand.db", "sqlite:///var/errand.db"},
      {"sqlite:e.db?Password=hunter2&ttl=1", "sqlite:e.db?Password=***&ttl=1"},
      {"mysql://u:hunter2@h:3306/d", "mysql://u:***@h:3306/d"},
      {"mysql://u:@h/d", "mysql://u:***@h/d"},
      {"mysql://u@h/d", "mysql://u@h/d"},
      {"postgres://u:hunter2@h1:1,h2:2/d", "postgres://u:***@h1:1,h2:2/d"},
      {"postgresql:///d?password=hunter2&user=u", "postgresql:///d?password=***&user=u"},
      {"postgresql:///d?sslpassword=hunter2", "postgresql:///d?sslpassword=***"},
      {"postgresql:///d?PASS%57ORD=hunter2", "postgresql:///d?PASS%57ORD=***"},
      {"redis://:hunter2@h", "redis://:***@h"},
      {"redis://h?auth=hunter2", "redis://h?auth=***"},
      {"redis+unix://:hunter2@/run/s", "redis+unix://:***@/run/s"},
      {"rediss://a:hunter2@[::1]:1/0?x=1", "rediss://a:***@[::1]:1/0?x=1"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(Dsn{text}.to_string(), shown);
}

TEST(Dsn, TheErrorNamesThePartAndTheRightForm) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "it is empty; the forms are:"},
      {"errand.db", "for a SQLite file write sqlite:errand.db"},
      {"/var/lib/errand.sqlite", "for a SQLite file write sqlite:///var/lib/errand.sqlite"},
      {"errand", "it has no scheme; the forms are:"},
      {"//host/db", "it has no scheme"},
      {":memory:", "it has no scheme"},
      {"oracle://h/d", "there is no scheme \"oracle\"; the forms are:"},
      {"Amqp://guest:guest@h", "there is no scheme \"amqp\""},
      {"pgsql://h/d", R"("pgsql" is called "postgresql" here)"},
      {"mariadb://h/d", R"("mariadb" is called "mysql" here)"},
      {"sqlite3:e.db", R"("sqlite3" is called "sqlite" here)"},
      {"doctrine://default", "only the Symfony application knows"},
      {"sqlite:", "names no file"},
      {"sqlite://", "names no file"},
      {"sqlite:?ttl=1", "names no file"},
      {"sqlite:///", "names a directory"},
      {"sqlite:var/", "names a directory"},
      {"sqlite::memory:", "a database in memory ends with its process"},
      {"sqlite:///:memory:", "a database in memory ends with its process"},
      {"sqlite://:memory:", "SQLite has none"},
      {"sqlite://relative.db", "write sqlite:relative.db, or sqlite:///absolute/path.db"},
      {"sqlite://host/path.db", "SQLite has none"},
      {"sqlite:a%2.db", "the path has a '%' without two hexadecimal digits"},
      {"sqlite:a%zz.db", "the path has a '%'"},
      {"sqlite:a%00.db", "a %00"},
      {"sqlite:///%kernel.project_dir%/x.db", "the path has a '%'"},
      {"sqlite:e.db?ttl", "option 1 after the '?' is not of the form name=value"},
      {"sqlite:e.db?", "option 1 after the '?' is not of the form name=value"},
      {"sqlite:e.db?a=1&", "option 2 after the '?' is not of the form name=value"},
      {"sqlite:e.db?=1", "option 1 after the '?' is not of the form name=value"},
      {"sqlite:e.db?ttl=1&b=2&ttl=2", "option 3 after the '?' repeats an earlier one"},
      {"sqlite:e.db?ttl=1&t%74l=2", "option 2 after the '?' repeats an earlier one"},
      {"sqlite:e.db?ttl=%", "option 1 has a '%'"},
      {"postgresql:d", "postgresql: must be followed by //"},
      {"mysql:h", "mysql: must be followed by //"},
      {"mysql://h:0/d", "the port must be a number from 1 to 65535"},
      {"mysql://h:65536/d", "the port must be"},
      {"mysql://h:-1/d", "the port must be"},
      {"mysql://h:+1/d", "the port must be"},
      {"mysql://h:/d", "the port must be"},
      {"mysql://h:33x/d", "the port must be"},
      {"mysql://::1/d", "an IPv6 address stands in brackets"},
      {"mysql://[::1/d", "lacks the ']'"},
      {"mysql://[::1]x/d", "after the ']' of the host"},
      {"mysql://[]/d", "is not an IPv6 address"},
      {"mysql://[::g]/d", "is not an IPv6 address"},
      {"mysql:///d", "mysql:// names no host"},
      {"mysql://h", "mysql:// names no database"},
      {"mysql://h/", "mysql:// names no database"},
      {"mysql://u%:p@h/d", "the user name has a '%'"},
      {"mysql://u:p%4@h/d", "the password has a '%'"},
      {"mysql://h%/d", "the host has a '%'"},
      {"redis://", "redis:// names no host"},
      {"redis+unix://host/run/s", "redis+unix names a socket, not a host"},
      {"redis+unix://", "redis+unix names no socket"},
      {"postgresql://h1:1,h2:x/d", "the port must be"},
      {"sqlite:a\nb.db", "control character"},
      {std::string{"sqlite:a\0b.db", 13}, "control character"},
      {"sqlite:a\xFF.db", "byte 8 is not UTF-8"},
      {"sqlite:" + std::string(4090, 'x'), "4097 bytes; at most 4096"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
  EXPECT_EQ(error_of("sqlite:" + std::string(4089, 'x')), "no error");
}

TEST(Dsn, TheFormsInTheErrorAreRight) {
  const std::string message = error_of("oracle://h/d");
  std::size_t forms = 0;
  for (std::size_t at = 0; (at = message.find("\n  ", at)) != std::string::npos; ++forms) {
    at += 3;
    const std::string form = message.substr(at, message.find_first_of(" \n", at) - at);
    EXPECT_EQ(error_of(form), "no error") << form;
  }
  EXPECT_EQ(forms, 7U);
}

constexpr const char* kSecret = "hunter2";

/// Every way to write a password so that the DSN is wrong or could be read in two ways.
TEST(Dsn, NoErrorEverShowsAPassword) {
  const std::string secret = kSecret;
  const std::string cases[] = {
      "mysql://u:" + secret + "@h:99999/d",
      "mysql://u:" + secret + "@h:x/d",
      "mysql://u:" + secret + "@/d",
      "mysql://u:" + secret + "@h",
      "mysql://u:" + secret,
      "mysql://u:" + secret + "/d",
      "mysql://u:" + secret + "%@h/d",
      "mysql://u:%" + secret + "@h/d",
      "mysql://u:a@" + secret + "@h/d",
      "mysql://u:" + secret + "@b@h/d",
      "mysql://u:a/" + secret + "@h/d",
      "mysql://u:1/" + secret + "@h/d",
      "mysql://u:a?" + secret + "@h/d",
      "mysql://u:1?" + secret + "@h/d",
      "mysql://u:1?x=" + secret + "@h/d",
      "mysql://u:a@b/" + secret + "@h/d",
      "mysql://u:a@b/c?d=" + secret + "@h/d",
      "mysql://u:" + secret + "\n@h/d",
      "mysql://u:" + secret + "\xFF@h/d",
      "mysql://u:" + secret + "@h/d?a",
      "mysql://u:" + secret + "@h/d?a=%",
      "mysql://u:" + secret + "@h/d?a=1&a=2",
      "mysql://u:" + secret + "@[::1/d",
      "mysql://u:" + secret + "@h/d%",
      "mysql:u:" + secret + "@h/d",
      "mysql:/u:" + secret + "@h/d",
      "postgresql://u:" + secret + "@h:x/d",
      "postgresql://u:a/" + secret + "@h:1/d",
      "postgresql://u:" + secret + "@h1:1,h2:x/d",
      "postgresql:///d?password=" + secret + "&password=" + secret,
      "postgresql:///d?password=" + secret + "%",
      "postgresql:///d?password=" + secret + "&x",
      "postgresql:///d?" + secret,
      "redis://" + secret + "@h:x",
      "redis://:" + secret + "@",
      "redis+unix://:" + secret + "@h",
      "redis+unix://:" + secret + "@",
      "oracle://u:" + secret + "@h/d",
      "pgsql://u:" + secret + "@h/d",
      "doctrine://u:" + secret + "@h/d",
      "u:" + secret + "@h/d",
      "u@h:" + secret,
      "://u:" + secret + "@h/d",
      "//u:" + secret + "@h/d",
      "sqlite://u:" + secret + "@h/d",
      "sqlite:e.db?password=" + secret + "&password=1",
      "mysql://u:" + secret + std::string(5000, 'x') + "@h/d",
  };
  for (const std::string& text : cases) {
    EXPECT_THAT(error_of(text), AllOf(Not("no error"), Not(HasSubstr(kSecret)))) << text;
    ::setenv("ERRAND_DSN", text.c_str(), 1);
    try {
      const Dsn dsn = Dsn::from_environment();
      ADD_FAILURE() << "must throw: " << text;
    } catch (const ConfigurationException& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr(kSecret)));
    }
  }
  ::unsetenv("ERRAND_DSN");
}

TEST(Dsn, APasswordThatIsNotEscapedIsExplained) {
  for (const char* text : {"mysql://u:a@b@h/d", "mysql://u:1/b@h/d", "redis://u:1?b=c@h"}) {
    EXPECT_THAT(error_of(text), HasSubstr("write '@' as %40")) << text;
  }
}

class DsnFromEnvironment : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    ::unsetenv("ERRAND_DSN");
    ::unsetenv("MESSENGER_TRANSPORT_DSN");
  }
};

TEST_F(DsnFromEnvironment, PrefersTheExplicitOneThenErrandsThenMessengers) {
  EXPECT_EQ(Dsn::from_environment().secret_text(), "sqlite:errand.db");
  ::setenv("MESSENGER_TRANSPORT_DSN", "sqlite:messenger.db", 1);
  EXPECT_EQ(Dsn::from_environment().secret_text(), "sqlite:messenger.db");
  ::setenv("ERRAND_DSN", "sqlite:own.db", 1);
  EXPECT_EQ(Dsn::from_environment().secret_text(), "sqlite:own.db");
  EXPECT_EQ(Dsn::from_environment("sqlite:flag.db").secret_text(), "sqlite:flag.db");
}

TEST_F(DsnFromEnvironment, EmptyVariablesCountAsUnset) {
  ::setenv("ERRAND_DSN", "", 1);
  ::setenv("MESSENGER_TRANSPORT_DSN", "", 1);
  EXPECT_EQ(Dsn::from_environment("").secret_text(), "sqlite:errand.db");
}

TEST_F(DsnFromEnvironment, TheErrorSaysWhichSourceWasWrong) {
  const auto error = [](std::string_view explicit_dsn) -> std::string {
    try {
      return "no error: " + Dsn::from_environment(explicit_dsn).to_string();
    } catch (const ConfigurationException& e) {
      return e.what();
    }
  };
  EXPECT_THAT(error("oracle://h"), ::testing::StartsWith("--dsn: wrong DSN: there is no scheme"));
  ::setenv("MESSENGER_TRANSPORT_DSN", "doctrine://default", 1);
  EXPECT_THAT(error(""),
              AllOf(::testing::StartsWith("MESSENGER_TRANSPORT_DSN: "),
                    HasSubstr("only the Symfony application knows"), HasSubstr("ERRAND_DSN")));
  ::setenv("ERRAND_DSN", "sqlite::memory:", 1);
  EXPECT_THAT(error(""), ::testing::StartsWith("ERRAND_DSN: "));
}

TEST(EngineKind, HasAWord) {
  EXPECT_EQ(to_string(EngineKind::sqlite), "sqlite");
  EXPECT_EQ(to_string(EngineKind::postgres), "postgres");
  EXPECT_EQ(to_string(EngineKind::mysql), "mysql");
  EXPECT_EQ(to_string(EngineKind::redis), "redis");
}

}  // namespace
}  // namespace errand
