#include "invoice_intake/extraction/fields/calendar_date.hpp"

#include <gtest/gtest.h>

namespace errand::invoices {
namespace {

TEST(CalendarDate, ReadsTheForms) {
  for (const char* text : {"20250208", "2025-02-08", "2025/2/8", "2025.02.08", "2025年02月08日",
                           "2025 年 2 月 8 日", "2025-02-08 10:21:33", "２０２５年０２月０８日"}) {
    EXPECT_EQ(parse_calendar_date(text), "2025-02-08") << text;
  }
}

TEST(CalendarDate, RefusesWhatIsNoDay) {
  for (const char* text : {"", "2025", "2025-13-01", "2025-02-30", "20250230", "1949-10-01",
                           "25-02-08", "2025年02", "今天"}) {
    EXPECT_FALSE(parse_calendar_date(text)) << text;
  }
}

TEST(CalendarDate, KnowsLeapYears) {
  EXPECT_TRUE(parse_calendar_date("20240229"));
  EXPECT_FALSE(parse_calendar_date("20230229"));
}

}  // namespace
}  // namespace errand::invoices
