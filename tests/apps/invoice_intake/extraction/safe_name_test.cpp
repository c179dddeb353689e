#include "invoice_intake/extraction/fields/safe_name.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::invoices {
namespace {

TEST(SafeName, KeepsWhatIsHarmless) { EXPECT_EQ(safe_name("发票（1）.pdf", "x"), "发票（1）.pdf"); }

TEST(SafeName, LeavesNoWayOut) {
  EXPECT_EQ(safe_name("../../etc/passwd", "x"), "passwd");
  EXPECT_EQ(safe_name("..\\..\\a.pdf", "x"), "a.pdf");
  EXPECT_EQ(safe_name("..", "x"), "x");
  EXPECT_EQ(safe_name("/", "x"), "x");
  EXPECT_EQ(safe_name("", "x"), "x");
  EXPECT_EQ(safe_path("../../etc/./cron.d/evil", "x"), "etc/cron.d/evil");
  EXPECT_EQ(safe_path("C:\\a\\..\\b.pdf", "x"), "C:/a/b.pdf");
}

TEST(SafeName, LeavesNoLineBreaksAndNothingInvisible) {
  EXPECT_EQ(safe_name("a\r\nBcc: b.pdf", "x"), "a Bcc: b.pdf");
  EXPECT_EQ(safe_name(std::string{"a\0b.pdf", 7}, "x").find('\0'), std::string::npos);
  EXPECT_EQ(safe_name("a\xE2\x80\xAE"
                      "fdp.exe",
                      "x"),
            "afdp.exe")
      << "right-to-left override";
}

TEST(SafeName, ShortensAndKeepsTheEnding) {
  const std::string name = safe_name(std::string(5000, 'a') + ".pdf", "x");
  EXPECT_EQ(name.size(), 200U);
  EXPECT_TRUE(name.ends_with(".pdf"));
}

}  // namespace
}  // namespace errand::invoices
