#include "invoice_intake/extraction/fields/tax_id.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::invoices {
namespace {

constexpr std::string_view kRight = "91232860MA251908F8";

TEST(TaxId, CheckCharacterFits) { EXPECT_TRUE(tax_id_check_holds(kRight)); }

TEST(TaxId, AnyOneWrongCharacterIsNoticed) {
  for (std::size_t i = 0; i < kRight.size(); ++i) {
    std::string wrong{kRight};
    wrong[i] = wrong[i] == '7' ? '4' : '7';
    EXPECT_FALSE(tax_id_check_holds(wrong)) << wrong;
  }
}

TEST(TaxId, OtherLengthsAndLettersDoNotFit) {
  EXPECT_FALSE(tax_id_check_holds("91232860MA251908F"));
  EXPECT_FALSE(tax_id_check_holds("91232860MI251908F8"));
  EXPECT_FALSE(tax_id_check_holds(""));
}

TEST(TaxId, LooksLikeOneByLengthAndCharacters) {
  EXPECT_TRUE(looks_like_tax_id("110108600000001"));
  EXPECT_TRUE(looks_like_tax_id(kRight));
  EXPECT_FALSE(looks_like_tax_id("91232860ma251908f8"));
  EXPECT_FALSE(looks_like_tax_id("ABCDEFGHIJKLMNOPQR"));
  EXPECT_FALSE(looks_like_tax_id("12345"));
}

}  // namespace
}  // namespace errand::invoices
