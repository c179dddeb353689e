#include "invoice_intake/extraction/fields/plain_text.hpp"

#include <gtest/gtest.h>

#include "invoice_intake/extraction/fields/ocr_text.hpp"

namespace errand::invoices {
namespace {

TEST(PlainText, MakesOneFormOfMany) {
  EXPECT_EQ(plain_text("（小写）：￥１２"), "(小写):¥12");
  EXPECT_EQ(plain_text("⼦⽤⾦⼭"), "子用金山") << "Kangxi radicals";
  EXPECT_EQ(plain_text("⻓⻋⻔"), "长车门") << "radicals that NFKC leaves alone";
  EXPECT_EQ(plain_text("  a \t\n　b  "), "a b");
  EXPECT_EQ(plain_text("a\xE2\x80\x8B\xE2\x80\xAE"
                       "b\x01"),
            "ab")
      << "what cannot be seen";
}

TEST(PlainText, RepairsWhatIsNotUtf8) {
  EXPECT_EQ(plain_text("a\xFF"
                       "b"),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(PlainText, OcrBlanksGoBesideChineseOnly) {
  EXPECT_EQ(tidy_ocr("武汉 小 米粒 〈 集团) 有 限 公司"), "武汉小米粒(集团)有限公司");
  EXPECT_EQ(tidy_ocr("HP LaserJet"), "HP LaserJet");
}

}  // namespace
}  // namespace errand::invoices
