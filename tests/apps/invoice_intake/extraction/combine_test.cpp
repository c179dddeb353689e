#include "invoice_intake/extraction/fields/combine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace errand::invoices {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// An invoice over 100.00 + 13.00 as one source sees it.
Reading reading_from(Source source) {
  Reading reading{source};
  reading.set(FieldName::number, std::string{"25442000000012341234"}, 0.95);
  reading.set(FieldName::issue_date, std::string{"2025-02-08"}, 0.95);
  reading.set(FieldName::amount, std::string{"100.00"}, 0.95);
  reading.set(FieldName::tax, std::string{"13.00"}, 0.95);
  reading.set(FieldName::total, std::string{"113.00"}, 0.95);
  return reading;
}

Reading qr() {
  return reading_of(*parse_qr_payload("01,32,,25442000000012341234,113.00,20250208,,A6A1"));
}

TEST(Combine, TheMostTrustedSourceWins) {
  const ExtractedInvoice invoice =
      combine({reading_from(Source::ocr), reading_from(Source::text), reading_from(Source::xml)});
  EXPECT_EQ(invoice.number.source, Source::xml);
  EXPECT_THAT(invoice.warnings, IsEmpty());
}

TEST(Combine, OcrAloneIsNeverSure) {
  const ExtractedInvoice invoice = combine({reading_from(Source::ocr)});
  EXPECT_LE(invoice.number.confidence, 0.9);
  EXPECT_LE(invoice.issue_date->confidence, 0.9);
  EXPECT_LE(invoice.total->confidence, 0.9);
  EXPECT_GT(invoice.confidence, 0.5);
}

TEST(Combine, TwoSourcesThatAgreeAreSure) {
  const ExtractedInvoice invoice = combine({reading_from(Source::ocr), qr()});
  EXPECT_GE(invoice.confidence, 0.97);
  EXPECT_GT(invoice.amount->confidence, 0.9) << "it adds up to a total that the QR code confirms";
}

TEST(Combine, ANumberOfEightDigitsWithoutItsCodeIsDoubted) {
  Reading text = reading_from(Source::text);
  text.set(FieldName::number, std::string{"10113872"});
  const ExtractedInvoice without = combine({text});
  EXPECT_LE(without.number.confidence, 0.5);
  EXPECT_LE(without.confidence, 0.5);
  ASSERT_EQ(without.warnings.size(), 1U);
  EXPECT_THAT(without.warnings[0], HasSubstr("code"));
  text.set(FieldName::code, std::string{"011001700112"});
  EXPECT_GT(combine({text}).number.confidence, 0.9);
  EXPECT_THAT(combine({text}).warnings, IsEmpty());
}

TEST(Combine, SourcesThatDisagreeAreDoubted) {
  Reading text = reading_from(Source::text);
  text.set(FieldName::number, std::string{"25112000000099999999"});
  const ExtractedInvoice invoice = combine({text, qr()});
  EXPECT_LE(invoice.confidence, 0.5);
  ASSERT_FALSE(invoice.warnings.empty());
  EXPECT_THAT(invoice.warnings[0], HasSubstr("number"));
}

TEST(Combine, AFewCharactersOfOcrThatDifferFromTheQrCodeAreMisread) {
  Reading ocr = reading_from(Source::ocr);
  ocr.set(FieldName::number, std::string{"25442000000012341284"});
  const ExtractedInvoice invoice = combine({ocr, qr()});
  EXPECT_EQ(invoice.number.value, "25442000000012341234");
  EXPECT_GT(invoice.number.confidence, 0.9);
}

TEST(Combine, SumsThatDoNotHoldAreDoubted) {
  Reading text = reading_from(Source::text);
  text.set(FieldName::tax, std::string{"14.00"});
  const ExtractedInvoice invoice = combine({text});
  EXPECT_LE(invoice.confidence, 0.5);
  EXPECT_THAT(invoice.warnings.at(0), HasSubstr("is not the total"));
}

TEST(Combine, CapitalsAreAHardCheckForTextAndASoftOneForOcr) {
  Reading text = reading_from(Source::text);
  text.set(FieldName::total_in_capitals, std::string{"壹佰壹拾肆圆整"});
  EXPECT_LE(combine({text}).total->confidence, 0.5);

  Reading ocr = reading_from(Source::ocr);
  const double alone = combine({ocr}).total->confidence;
  ocr.set(FieldName::total_in_capitals, std::string{"壹佰壹拾肆圆整"});
  EXPECT_EQ(combine({ocr}).total->confidence, alone);
  ocr.set(FieldName::total_in_capitals, std::string{"壹佰壹拾叁圆整"});
  EXPECT_GT(combine({ocr}).total->confidence, 0.9);
}

TEST(Combine, ATotalThatOcrLostFollowsFromTheRest) {
  Reading ocr = reading_from(Source::ocr);
  ocr.fields[static_cast<std::size_t>(FieldName::total)].reset();
  const ExtractedInvoice invoice = combine({ocr});
  ASSERT_TRUE(invoice.total);
  EXPECT_EQ(invoice.total->value, "113.00");
  EXPECT_LE(invoice.total->confidence, 0.9);
}

TEST(Combine, TheAmountOfAnOlderQrCodeMayBeEither) {
  for (const char* amount : {"100.00", "113.00"}) {
    Reading text = reading_from(Source::text);
    text.set(FieldName::number, std::string{"10113872"});
    text.set(FieldName::code, std::string{"011001700112"});
    const auto payload = parse_qr_payload("01,10,011001700112,10113872," + std::string{amount} +
                                          ",20250208,17602940807063740560,0819,");
    const ExtractedInvoice invoice = combine({text, reading_of(*payload)});
    EXPECT_THAT(invoice.warnings, IsEmpty()) << amount;
    EXPECT_GE(invoice.confidence, 0.95) << amount;
  }
}

TEST(Combine, ATaxIdThatFailsItsCheckIsKeptAndWarnedAbout) {
  Reading text = reading_from(Source::text);
  text.set(FieldName::seller_tax_id, std::string{"91232860MA251908F7"});
  const ExtractedInvoice invoice = combine({text});
  EXPECT_EQ(invoice.seller_tax_id->value, "91232860MA251908F7");
  EXPECT_LE(invoice.seller_tax_id->confidence, 0.9);
  EXPECT_THAT(invoice.warnings.at(0), HasSubstr("check character"));
}

TEST(Combine, LinesThatDoNotAddUpAreDoubted) {
  Reading text = reading_from(Source::text);
  LineItem item;
  item.name = "纸";
  item.amount = "90.00";
  item.source = Source::text;
  text.items = {item};
  const ExtractedInvoice invoice = combine({text});
  EXPECT_LE(invoice.items.at(0).confidence, 0.5);
  EXPECT_THAT(invoice.warnings.at(0), HasSubstr("add up to 90.00"));
}

}  // namespace
}  // namespace errand::invoices
