#include "invoice_intake/extraction/fields/ofd.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace errand::invoices {
namespace {

using Files = std::map<std::string, std::string>;

std::optional<Reading> read(const Files& files) {
  return read_ofd([&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional{found->second};
  });
}

/// A document in a folder of an unusual name, with all three sources; they differ in the number.
Files all_three() {
  return {
      {"OFD.xml",
       "<ofd:OFD "
       "xmlns:ofd='http://www.ofdspec.org/2016'><ofd:DocBody><ofd:DocInfo><ofd:CustomDatas>"
       "<ofd:CustomData Name='发票号码'>10113873</ofd:CustomData>"
       "<ofd:CustomData Name='合计金额'>100</ofd:CustomData><ofd:CustomData "
       "Name='合计税额'>13</ofd:CustomData>"
       "<ofd:CustomData Name='购买方纳税人识别号'/></ofd:CustomDatas></ofd:DocInfo>"
       "<ofd:DocRoot>/Odd/Document.xml</ofd:DocRoot></ofd:DocBody></ofd:OFD>"},
      {"Odd/Document.xml",
       "<Document><Pages><Page ID='1' BaseLoc='Pages/P/C.xml'/></Pages>"
       "<Attachments>A/List.xml</Attachments><CustomTags>T/List.xml</CustomTags></Document>"},
      {"Odd/A/List.xml",
       "<Attachments><Attachment><FileLoc>A/o.xml</FileLoc></Attachment></Attachments>"},
      {"Odd/A/o.xml", "<?xml version='1.0'?><eInvoice><InvoiceNo>10113871</InvoiceNo></eInvoice>"},
      {"Odd/T/List.xml",
       "<CustomTags><CustomTag><FileLoc>t.xml</FileLoc></CustomTag></CustomTags>"},
      {"Odd/T/t.xml",
       "<e><InvoiceNo><ObjectRef>7</ObjectRef></InvoiceNo><BuyerName><ObjectRef>8</ObjectRef>"
       "<ObjectRef>9</ObjectRef></BuyerName></e>"},
      {"Odd/Pages/P/C.xml",
       "<Page><TextObject ID='7'><TextCode>10113872</TextCode></TextObject><TextObject "
       "ID='8'><TextCode>甲"
       "</TextCode></TextObject><TextObject ID='9'><TextCode>公司</TextCode></TextObject></Page>"}};
}

TEST(Ofd, TheAttachedInvoiceComesFirstAndTheOthersFillIn) {
  const auto reading = read(all_three());
  ASSERT_TRUE(reading);
  EXPECT_EQ((*reading)[FieldName::number]->value, "10113871");
  EXPECT_EQ((*reading)[FieldName::buyer_name]->value, "甲公司") << "a tag may name several texts";
  EXPECT_EQ((*reading)[FieldName::total]->value, "113.00") << "custom data has the sums only";
  EXPECT_FALSE((*reading)[FieldName::buyer_tax_id]) << "an empty element is no value";
}

TEST(Ofd, TagsComeBeforeCustomData) {
  Files files = all_three();
  files.erase("Odd/A/o.xml");
  EXPECT_EQ((*read(files))[FieldName::number]->value, "10113872");
  files.erase("Odd/T/t.xml");
  EXPECT_EQ((*read(files))[FieldName::number]->value, "10113873");
}

TEST(Ofd, PathsCannotLeaveTheArchive) {
  Files files = all_three();
  files["Odd/A/List.xml"] =
      "<A><Attachment><FileLoc>../../../etc/passwd</FileLoc></Attachment></A>";
  std::string asked;
  (void)read_ofd([&](const std::string& path) -> std::optional<std::string> {
    asked += path + "\n";
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional{found->second};
  });
  EXPECT_EQ(asked.find(".."), std::string::npos) << asked;
}

TEST(Ofd, WithoutANumberItIsNoInvoice) {
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read({{"OFD.xml", "<OFD/>"}}));
}

}  // namespace
}  // namespace errand::invoices
