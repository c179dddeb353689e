#include "distributor_upgrade/criteria/decimal.hpp"

#include <gtest/gtest.h>

#include "errand/errors.hpp"

namespace errand::distributors {
namespace {

std::string text_of(std::string_view text) {
  const auto number = Decimal::parse(text);
  return number ? number->to_string() : "nothing";
}

TEST(Decimal, ReadsAndWritesTheSameNumber) {
  EXPECT_EQ(text_of("0"), "0");
  EXPECT_EQ(text_of("5000"), "5000");
  EXPECT_EQ(text_of("-12.5"), "-12.5");
  EXPECT_EQ(text_of("0.05"), "0.05");
  EXPECT_EQ(text_of("007.10"), "7.1");
  EXPECT_EQ(text_of("123456789012345678.123456789"), "123456789012345678.123456789");
}

TEST(Decimal, RefusesWhatItCannotHoldExactly) {
  for (const char* text : {"", "-", ".", ".5", "5.", "1e3", "1,000", "0x10", " 1", "1 ", "--1",
                           "1234567890123456789012345678", "0.1234567891", "NaN"}) {
    EXPECT_EQ(text_of(text), "nothing") << text;
  }
}

TEST(Decimal, CalculatesWithoutRounding) {
  const Decimal tenth = *Decimal::parse("0.1");
  Decimal sum;
  for (int i = 0; i < 10; ++i) sum = *sum.plus(tenth);
  EXPECT_EQ(sum, Decimal{1});
  EXPECT_EQ(Decimal::parse("0.3"), tenth.plus(*Decimal::parse("0.2")));
  EXPECT_EQ(Decimal::parse("0.01"), tenth.times(tenth));
  EXPECT_EQ(Decimal::parse("-0.9"), tenth.minus(1));
}

TEST(Decimal, RefusesResultsThatAreTooLong) {
  const Decimal most = *Decimal::parse("999999999999999999999999999");
  EXPECT_EQ(most.plus(1), std::nullopt);
  EXPECT_EQ(most.times(most), std::nullopt);
  EXPECT_EQ(most.negated().minus(1), std::nullopt);
  const Decimal small = *Decimal::parse("0.000000001");
  EXPECT_EQ(small.times(small), std::nullopt);
}

TEST(Decimal, ComparesNumbersOfDifferentPlaces) {
  EXPECT_EQ(*Decimal::parse("1.50"), *Decimal::parse("1.5"));
  EXPECT_LT(*Decimal::parse("1.499999999"), *Decimal::parse("1.5"));
  EXPECT_GT(*Decimal::parse("-1.4"), *Decimal::parse("-1.5"));
  EXPECT_LT(*Decimal::parse("-999999999999999999999999999"), *Decimal::parse("0.000000001"));
}

TEST(Money, IsCountedInCents) {
  EXPECT_EQ(parse_amount("1250.50"), 125'050);
  EXPECT_EQ(parse_amount("0.01"), 1);
  EXPECT_EQ(parse_amount("7"), 700);
  EXPECT_EQ(money_text(125'050), "1250.50");
  EXPECT_EQ(money_text(5), "0.05");
  EXPECT_EQ(money_text(-5), "-0.05");
}

TEST(Money, RefusesAmountsThatNoWithdrawalCanHave) {
  const auto reason = [](std::string_view text) -> std::string {
    try {
      (void)parse_amount(text);
    } catch (const ValidationException& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(reason("10.005"),
            "the amount '10.005' has parts of a cent; two digits behind the point are the most");
  EXPECT_EQ(reason("0"), "the amount '0' is not more than 0");
  EXPECT_EQ(reason("-3"), "the amount '-3' is not more than 0");
  EXPECT_EQ(reason("100000000000000000"),
            "the amount '100000000000000000' is more than 999999999999.99");
  EXPECT_EQ(reason(std::string(30, '9')),
            "the amount '" + std::string(30, '9') + "' is more than 999999999999.99");
  EXPECT_EQ(reason("1000000000000"), "the amount '1000000000000' is more than 999999999999.99");
  EXPECT_EQ(reason("ten"),
            "the amount 'ten' is not a number; write digits, and a point before the cents: 1250 or "
            "1250.50");
}

}  // namespace
}  // namespace errand::distributors
