#include "invoice_intake/extraction/fields/invoice_number.hpp"

#include <gtest/gtest.h>

namespace errand::invoices {
namespace {

TEST(InvoiceNumber, DigitalOnesHaveTwentyDigitsAYearAndARegion) {
  EXPECT_TRUE(is_digital_number("25442000000012341234"));
  EXPECT_FALSE(is_digital_number("2544200000001234123"));
  EXPECT_FALSE(is_digital_number("19442000000012341234")) << "before they existed";
  EXPECT_FALSE(is_digital_number("25992000000012341234")) << "no such region";
  EXPECT_FALSE(is_digital_number("2544200000001234123A"));
}

TEST(InvoiceNumber, OlderOnesHaveEightDigitsAndACode) {
  EXPECT_TRUE(is_coded_number("10113872"));
  EXPECT_FALSE(is_coded_number("101138720"));
  EXPECT_TRUE(is_invoice_code("011001700112"));
  EXPECT_TRUE(is_invoice_code("1100191130"));
  EXPECT_FALSE(is_invoice_code("911001700112"));
  EXPECT_FALSE(is_invoice_code("11001911300"));
  EXPECT_FALSE(is_invoice_code(""));
}

}  // namespace
}  // namespace errand::invoices
