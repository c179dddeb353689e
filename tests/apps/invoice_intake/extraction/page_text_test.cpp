#include "invoice_intake/extraction/fields/page_text.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::invoices {
namespace {

/// Text of size 10 whose left edge and top are given; Chinese characters are 10 wide, others 5.
Word word(double left, double top, const std::string& text) {
  double width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) width += 5;
    if (byte >= 0xC0) width += 10;
  }
  return {text, left, top, left + width, top + 10, 1};
}

std::vector<Word> digital_form() {
  return {word(300, 10, "电子发票（普通发票）"), word(500, 10, "发票号码："),
          word(560, 10, "25442000000012341234"), word(500, 30, "开票日期："),
          word(560, 30, "2025年02月08日"),
          // Labels set vertically, between the lines of the parties.
          word(10, 55, "购"), word(10, 68, "买"), word(10, 81, "方"), word(330, 55, "销"),
          word(330, 68, "售"), word(330, 81, "方"), word(30, 60, "名称："), word(65, 60, "甲公司"),
          word(350, 60, "名称："), word(385, 60, "乙（集团）公司"),
          word(30, 80, "统一社会信用代码/纳税人识别号："), word(190, 80, "91232860MA251908F8"),
          word(350, 80, "统一社会信用代码/纳税人识别号："), word(510, 80, "91966697MA4B314F62"),
          word(40, 100, "项目名称"), word(150, 100, "规格型号"), word(220, 100, "单 位"),
          word(270, 100, "数 量"), word(330, 100, "单 价"), word(400, 100, "金 额"),
          word(470, 100, "税率/征收率"), word(570, 100, "税 额"),
          word(10, 120, "*纸制品*很长的名称"), word(225, 120, "箱"), word(290, 120, "2"),
          word(335, 120, "50.00"), word(405, 120, "100.00"), word(490, 120, "13%"),
          word(570, 120, "13.00"), word(10, 133, "在下一行"), word(40, 160, "合"),
          word(70, 160, "计"), word(400, 160, "¥100.00"), word(565, 160, "¥13.00"),
          word(20, 180, "价税合计（大写）"), word(150, 180, "⊗壹佰壹拾叁圆整"),
          word(400, 180, "（小写）"), word(450, 180, "¥113.00"), word(10, 200, "备"),
          word(10, 215, "注"), word(30, 200, "订单号:1"), word(50, 240, "开票人："),
          word(95, 240, "李娜")};
}

std::string value(const Reading& reading, FieldName name) {
  return reading[name] ? reading[name]->value : "(none)";
}

TEST(PageText, ReadsTheDigitalForm) {
  const PageReading page = read_page_text(digital_form(), Source::text);
  ASSERT_TRUE(page.reading);
  const Reading& reading = *page.reading;
  EXPECT_EQ(value(reading, FieldName::number), "25442000000012341234");
  EXPECT_EQ(value(reading, FieldName::invoice_type), "32");
  EXPECT_EQ(value(reading, FieldName::issue_date), "2025-02-08");
  EXPECT_EQ(value(reading, FieldName::buyer_name), "甲公司");
  EXPECT_EQ(value(reading, FieldName::seller_name), "乙(集团)公司");
  EXPECT_EQ(value(reading, FieldName::buyer_tax_id), "91232860MA251908F8");
  EXPECT_EQ(value(reading, FieldName::seller_tax_id), "91966697MA4B314F62");
  EXPECT_EQ(value(reading, FieldName::amount), "100.00");
  EXPECT_EQ(value(reading, FieldName::tax), "13.00");
  EXPECT_EQ(value(reading, FieldName::total), "113.00");
  EXPECT_EQ(value(reading, FieldName::total_in_capitals), "壹佰壹拾叁圆整");
  EXPECT_EQ(value(reading, FieldName::drawer), "李娜");
  EXPECT_EQ(value(reading, FieldName::remark), "订单号:1");
}

TEST(PageText, NamesTooLongForTheirCellGoOnBelow) {
  const PageReading page = read_page_text(digital_form(), Source::text);
  ASSERT_TRUE(page.reading);
  ASSERT_EQ(page.reading->items.size(), 1U);
  const LineItem& item = page.reading->items[0];
  EXPECT_EQ(item.name, "*纸制品*很长的名称在下一行");
  EXPECT_EQ(item.quantity, "2");
  EXPECT_EQ(item.unit_price, "50.00");
  EXPECT_EQ(item.tax_rate, "13%");
  EXPECT_FALSE(item.specification);
}

TEST(PageText, BuyerIsAboveTheSellerInTheOlderForm) {
  const PageReading page = read_page_text(
      {word(500, 10, "发票代码:"), word(560, 10, "011001700112"), word(500, 30, "发票号码:"),
       word(560, 30, "10113872"), word(20, 60, "名      称:"), word(120, 60, "买家"),
       word(20, 200, "名      称:"), word(120, 200, "卖家")},
      Source::text);
  ASSERT_TRUE(page.reading);
  EXPECT_EQ(value(*page.reading, FieldName::code), "011001700112");
  EXPECT_EQ(value(*page.reading, FieldName::buyer_name), "买家");
  EXPECT_EQ(value(*page.reading, FieldName::seller_name), "卖家");
}

TEST(PageText, APageWithoutANumberIsNoInvoice) {
  EXPECT_FALSE(read_page_text({}, Source::text).reading);
  const PageReading letter = read_page_text({word(10, 10, "您好,发票稍后寄出")}, Source::text);
  EXPECT_FALSE(letter.reading);
  EXPECT_FALSE(letter.has_invoice_labels);
}

}  // namespace
}  // namespace errand::invoices
