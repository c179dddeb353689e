#include "invoice_intake/extraction/money.hpp"

#include <gtest/gtest.h>
#include <utility>

namespace errand::invoices {
namespace {

TEST(Money, ReadsWhatPeopleWrite) {
  const std::pair<const char*, std::int64_t> cases[] = {{"0", 0},
                                                        {"12", 1200},
                                                        {"1234.5", 123450},
                                                        {"1,234.50", 123450},
                                                        {"¥1234.50", 123450},
                                                        {"￥ 7.05", 705},
                                                        {"-12.00", -1200},
                                                        {"-¥12.00", -1200},
                                                        {"¥-12.00", -1200},
                                                        {"(12.00)", -1200},
                                                        {"0.10", 10},
                                                        {"3.1400", 314},
                                                        {" 8.00 ", 800},
                                                        {"1,234,567.89", 123456789}};
  for (const auto& [text, fen] : cases) {
    const auto money = Money::parse(text);
    ASSERT_TRUE(money) << text;
    EXPECT_EQ(money->fen(), fen) << text;
  }
}

TEST(Money, RefusesWhatIsNoExactAmount) {
  for (const char* text : {"", ".", "1.", ".5", "1.234", "12a", "1,23.00", "12,3456.00", "1..2",
                           "--1", "(-1)", "1 2", "99999999999999999999", "¥", "1e3", "NaN"}) {
    EXPECT_FALSE(Money::parse(text)) << text;
  }
}

TEST(Money, ComesBackFromItsText) {
  for (const std::int64_t fen :
       {0LL, 5LL, -5LL, 10LL, 99LL, 100LL, -123456LL, 1'000'000'000'000'000LL}) {
    const Money money = Money::from_fen(fen);
    EXPECT_EQ(Money::parse(money.to_string()), money) << money.to_string();
  }
  EXPECT_EQ(Money::from_fen(-5).to_string(), "-0.05");
}

TEST(Money, AddsExactly) {
  EXPECT_EQ(*Money::parse("0.10") + *Money::parse("0.20"), *Money::parse("0.30"));
}

}  // namespace
}  // namespace errand::invoices
