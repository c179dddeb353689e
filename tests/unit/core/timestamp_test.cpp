#include "errand/timestamp.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace errand {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr Timestamp kTenOClock{seconds{1'764'583'200}};

struct Form {
  Timestamp time;
  std::string iso;
  std::string sql;
};

const Form kForms[] = {
    {Timestamp{}, "1970-01-01T00:00:00Z", "1970-01-01 00:00:00.000000"},
    {Timestamp{microseconds{1}}, "1970-01-01T00:00:00.000001Z", "1970-01-01 00:00:00.000001"},
    {kTenOClock, "2025-12-01T10:00:00Z", "2025-12-01 10:00:00.000000"},
    {kTenOClock + microseconds{250'000}, "2025-12-01T10:00:00.250000Z",
     "2025-12-01 10:00:00.250000"},
    {Timestamp{seconds{951'782'399}}, "2000-02-28T23:59:59Z", "2000-02-28 23:59:59.000000"},
    {Timestamp{seconds{951'782'400}}, "2000-02-29T00:00:00Z", "2000-02-29 00:00:00.000000"},
    {Timestamp{seconds{253'402'300'799}} + microseconds{999'999}, "9999-12-31T23:59:59.999999Z",
     "9999-12-31 23:59:59.999999"},
};

TEST(Timestamp, HasAnIsoForm) {
  for (const Form& form : kForms) {
    EXPECT_EQ(to_iso8601(form.time), form.iso);
    EXPECT_EQ(parse_iso8601(form.iso), form.time) << form.iso;
  }
}

TEST(Timestamp, HasAnSqlForm) {
  for (const Form& form : kForms) {
    EXPECT_EQ(to_sql_time(form.time), form.sql);
    EXPECT_EQ(parse_sql_time(form.sql), form.time) << form.sql;
  }
}

TEST(Timestamp, SurvivesBothFormsWhateverItIs) {
  std::mt19937_64 random{7};  // NOLINT(cert-msc51-cpp): the same times in every run
  std::uniform_int_distribution<std::int64_t> any{0, 253'402'300'799'999'999};
  for (int i = 0; i < 10'000; ++i) {
    const Timestamp time{microseconds{any(random)}};
    ASSERT_EQ(parse_iso8601(to_iso8601(time)), time);
    ASSERT_EQ(parse_sql_time(to_sql_time(time)), time);
  }
}

TEST(Timestamp, SortsAsTextAsItSortsAsTime) {
  std::mt19937_64 random{8};  // NOLINT(cert-msc51-cpp)
  std::uniform_int_distribution<std::int64_t> any{0, 253'402'300'799'999'999};
  for (int i = 0; i < 10'000; ++i) {
    const Timestamp a{microseconds{any(random)}};
    const Timestamp b{microseconds{any(random)}};
    ASSERT_EQ(a < b, to_sql_time(a) < to_sql_time(b));
  }
}

TEST(Timestamp, OutsideTheYearsItIsWrittenAsTheNearestInside) {
  EXPECT_EQ(to_iso8601(Timestamp{microseconds{-1}}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_iso8601(Timestamp::min()), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_sql_time(Timestamp::max()), "9999-12-31 23:59:59.999999");
}

TEST(Timestamp, ReadsOffsetsAndFractions) {
  const std::pair<const char*, Timestamp> cases[] = {
      {"2025-12-01T18:00:00+08:00", kTenOClock},
      {"2025-12-01T18:00:00+0800", kTenOClock},
      {"2025-12-01T18:00:00+08", kTenOClock},
      {"2025-12-01T04:30:00-05:30", kTenOClock},
      {"2025-12-02T09:59:00+23:59", kTenOClock},
      {"2025-12-01T10:00:00-00:00", kTenOClock},
      {"2025-12-01T10:00:00.5Z", kTenOClock + microseconds{500'000}},
      {"2025-12-01T10:00:00.000001Z", kTenOClock + microseconds{1}},
      {"2025-12-01T10:00:00.123456789Z", kTenOClock + microseconds{123'456}},
      {"2025-12-01T10:00:00.999999999+00:00", kTenOClock + microseconds{999'999}},
  };
  for (const auto& [text, time] : cases) EXPECT_EQ(parse_iso8601(text), time) << text;
}

TEST(Timestamp, ReadsSqlFractionsOfOtherWriters) {
  EXPECT_EQ(parse_sql_time("2025-12-01 10:00:00"), kTenOClock);
  EXPECT_EQ(parse_sql_time("2025-12-01 10:00:00.5"), kTenOClock + microseconds{500'000});
  EXPECT_EQ(parse_sql_time("2025-12-01 10:00:00.123"), kTenOClock + microseconds{123'000});
}

TEST(Timestamp, ReadsNothingElse) {
  const std::string_view cases[] = {
      "",
      "now",
      "2025-12-01",
      "2025-12-01T10:00Z",
      "2025-12-01T10:00:00",
      "2025-12-01 10:00:00Z",
      "2025-12-01t10:00:00Z",
      "2025-12-01T10:00:00z",
      "2025-12-01T10:00:00ZZ",
      "2025-12-01T10:00:00Z ",
      " 2025-12-01T10:00:00Z",
      "2025-12-01T10:00:00.Z",
      "2025-12-01T10:00:00.1234567890Z",
      "2025-12-01T10:00:00,5Z",
      "2025-12-01T10:00:00+",
      "2025-12-01T10:00:00+8",
      "2025-12-01T10:00:00+080",
      "2025-12-01T10:00:00+08:0",
      "2025-12-01T10:00:00+08:60",
      "2025-12-01T10:00:00+24:00",
      "2025-12-01T10:00:00+08:00Z",
      "2025-12-01T24:00:00Z",
      "2025-12-01T10:60:00Z",
      "2025-12-01T10:00:60Z",
      "2025-13-01T10:00:00Z",
      "2025-00-01T10:00:00Z",
      "2025-12-00T10:00:00Z",
      "2025-12-32T10:00:00Z",
      "2025-02-29T10:00:00Z",
      "2100-02-29T10:00:00Z",
      "2025-04-31T10:00:00Z",
      "1969-12-31T23:59:59Z",
      "1970-01-01T00:00:00+00:01",
      "9999-12-31T23:59:59-00:01",
      "0000-01-01T00:00:00Z",
      "-025-12-01T10:00:00Z",
      "+025-12-01T10:00:00Z",
      "20251201T100000Z",
      "2025-12-01T1a:00:00Z",
      "10000-01-01T00:00:00Z",
  };
  for (const std::string_view text : cases) EXPECT_EQ(parse_iso8601(text), std::nullopt) << text;
}

TEST(Timestamp, ReadsNoSqlTimeOfAnotherForm) {
  const std::string_view cases[] = {
      "",
      "2025-12-01",
      "2025-12-01T10:00:00",
      "2025-12-01 10:00:00Z",
      "2025-12-01 10:00:00+00",
      "2025-12-01 10:00:00.",
      "2025-12-01 10:00",
      "2025-02-30 10:00:00",
      "1969-12-31 23:59:59",
      "2025-12-01  10:00:00",
  };
  for (const std::string_view text : cases) EXPECT_EQ(parse_sql_time(text), std::nullopt) << text;
}

TEST(Timestamp, ReadsNoTextWithANulInIt) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(parse_iso8601("2025-12-01T10:00:00Z\0"sv), std::nullopt);
  EXPECT_EQ(parse_iso8601("2025-12-01\00010:00:00Z"sv), std::nullopt);
}

}  // namespace
}  // namespace errand
