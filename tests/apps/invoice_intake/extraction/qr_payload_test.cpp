#include "invoice_intake/extraction/fields/qr_payload.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::invoices {
namespace {

TEST(QrPayload, ReadsTheOlderForm) {
  const auto payload =
      parse_qr_payload("01,10,011001700112,10113872,32,20180224,17602940807063740560,0819,");
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->type, "10");
  EXPECT_EQ(payload->code, "011001700112");
  EXPECT_EQ(payload->number, "10113872");
  EXPECT_EQ(payload->amount, Money::from_fen(3200));
  EXPECT_EQ(payload->issue_date, "2018-02-24");
  EXPECT_EQ(payload->check_code, "17602940807063740560");
}

TEST(QrPayload, ReadsTheDigitalForm) {
  const auto payload = parse_qr_payload("01,32,,25442000000012341234,666.00,20250208,,A6A1");
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->code, "");
  EXPECT_EQ(payload->number, "25442000000012341234");
  EXPECT_EQ(payload->amount, Money::from_fen(66600));
  EXPECT_EQ(payload->check_code, "");
}

TEST(QrPayload, ToleratesFullWidthCommasBlanksAndAMissingEnd) {
  for (const char* text : {"01，32，，25442000000012341234，666.00，20250208，，A6A1",
                           "01, 32, , 25442000000012341234, 666.00, 20250208, ,",
                           "01,32,,25442000000012341234,666.00,20250208"}) {
    const auto payload = parse_qr_payload(text);
    ASSERT_TRUE(payload) << text;
    EXPECT_EQ(payload->number, "25442000000012341234") << text;
  }
}

TEST(QrPayload, ReadsTheUrlForm) {
  const auto payload = parse_qr_payload(
      "https://inv.example.com/"
      "q?fpdm=011001700112&fphm=10113872&kprq=20180224&kjje=32.00&jym=063740");
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->number, "10113872");
  EXPECT_EQ(payload->issue_date, "2018-02-24");
  EXPECT_EQ(payload->check_code, "063740");
}

TEST(QrPayload, RefusesWhatIsNoInvoice) {
  for (const std::string& text :
       {std::string{}, std::string{"https://example.com/"},
        std::string{"https://example.com/?fphm=1"}, std::string{"01,10,011001700112"},
        std::string{"02,10,011001700112,10113872,32,20180224,,"},
        std::string{"01,10,,10113872,32,20180224,,"},
        std::string{"01,xx,,25442000000012341234,666.00,20250208,,"}, std::string(100'000, ',')}) {
    EXPECT_FALSE(parse_qr_payload(text)) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace errand::invoices
