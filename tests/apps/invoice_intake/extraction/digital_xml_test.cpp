#include "invoice_intake/extraction/fields/digital_xml.hpp"

#include <gtest/gtest.h>
#include <string>

#include "invoice_intake/extraction/fields/structured_values.hpp"

namespace errand::invoices {
namespace {

constexpr std::string_view kInvoice =
    "<?xml version=\"1.0\"?><n:EInvoice "
    "xmlns:n=\"urn:x\"><n:Header><n:EIid>25442000000012341234</n:EIid>"
    "<n:InherentLabel><n:GeneralOrSpecialVAT><n:LabelName>普通发票</n:LabelName></"
    "n:GeneralOrSpecialVAT>"
    "</n:InherentLabel></n:Header><n:EInvoiceData><n:SellerInformation><n:SellerName>甲 "
    "公司</n:SellerName>"
    "</n:SellerInformation><n:BasicInformation><n:TotalAmWithoutTax>100</n:TotalAmWithoutTax>"
    "<n:TotalTaxAm>13</n:TotalTaxAm><n:TotalTax-includedAmount>113</n:TotalTax-includedAmount>"
    "<n:RequestTime>2025-02-08 10:00:00</n:RequestTime></n:BasicInformation><n:IssuItemInformation>"
    "<n:ItemName>*纸*A4</n:ItemName><n:Amount>100</n:Amount><n:TaxRate>0.13</n:TaxRate>"
    "<n:ComTaxAm>13</n:ComTaxAm></n:IssuItemInformation></n:EInvoiceData></n:EInvoice>";

TEST(DigitalXml, ReadsFieldsWhateverTheNamespace) {
  const auto reading = read_invoice_xml(kInvoice, Source::xml);
  ASSERT_TRUE(reading);
  EXPECT_EQ((*reading)[FieldName::number]->value, "25442000000012341234");
  EXPECT_EQ((*reading)[FieldName::invoice_type]->value, "32");
  EXPECT_EQ((*reading)[FieldName::issue_date]->value, "2025-02-08");
  EXPECT_EQ((*reading)[FieldName::seller_name]->value, "甲 公司");
  EXPECT_EQ((*reading)[FieldName::total]->value, "113.00");
  EXPECT_FALSE((*reading)[FieldName::buyer_name]);
  ASSERT_EQ(reading->items.size(), 1U);
  EXPECT_EQ(reading->items[0].tax_rate, "13%");
  EXPECT_EQ(reading->items[0].amount, "100.00");
  EXPECT_FALSE(reading->items[0].unit);
}

TEST(DigitalXml, RefusesWhatIsNoInvoice) {
  for (const std::string& bytes :
       {std::string{}, std::string{"<?xml version='1.0'?><order/>"},
        std::string{"<EInvoice><a></EInvoice>"},
        std::string{"<EInvoice><EInvoiceData/></EInvoice>"}, std::string(1000, '<')}) {
    EXPECT_FALSE(read_invoice_xml(bytes, Source::xml)) << bytes.substr(0, 40);
  }
}

TEST(DigitalXml, DoesNotFollowTheDepthsOfADocument) {
  std::string deep = "<?xml version='1.0'?>";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  for (int i = 0; i < 100'000; ++i) deep += "</a>";
  EXPECT_FALSE(read_invoice_xml(deep, Source::xml));
}

TEST(DigitalXml, TaxRatesHaveOneForm) {
  EXPECT_EQ(tax_rate_text("0.13"), "13%");
  EXPECT_EQ(tax_rate_text("13%"), "13%");
  EXPECT_EQ(tax_rate_text("0.015"), "1.5%");
  EXPECT_EQ(tax_rate_text("0"), "0%");
  EXPECT_EQ(tax_rate_text("13"), "13%");
  EXPECT_EQ(tax_rate_text("免税"), "免税");
  EXPECT_EQ(tax_rate_text("***"), "");
}

}  // namespace
}  // namespace errand::invoices
