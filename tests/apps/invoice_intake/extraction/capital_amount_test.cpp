#include "invoice_intake/extraction/fields/capital_amount.hpp"

#include <gtest/gtest.h>
#include <utility>

namespace errand::invoices {
namespace {

TEST(CapitalAmount, ReadsTheForms) {
  const std::pair<const char*, const char*> cases[] = {{"壹佰壹拾叁圆整", "113.00"},
                                                       {"⊗壹佰壹拾叁圆整", "113.00"},
                                                       {"壹佰壹拾叁元正", "113.00"},
                                                       {"壹仟贰佰叁拾肆圆伍角陆分", "1234.56"},
                                                       {"壹仟圆零伍分", "1000.05"},
                                                       {"拾圆整", "10.00"},
                                                       {"壹拾万圆整", "100000.00"},
                                                       {"壹亿零伍圆整", "100000005.00"},
                                                       {"贰万零壹拾圆整", "20010.00"},
                                                       {"壹佰万贰仟圆整", "1002000.00"},
                                                       {"叁仟零伍万零柒佰圆零玖分", "30050700.09"},
                                                       {"零圆伍角整", "0.50"},
                                                       {"伍角整", "0.50"},
                                                       {"(负数)壹佰圆整", "-100.00"},
                                                       {"（负数）壹佰圆整", "-100.00"},
                                                       {"壹 佰 圆 整", "100.00"},
                                                       {"人民币陆佰陆拾陆圆整", "666.00"}};
  for (const auto& [text, amount] : cases) {
    const auto money = parse_capital_amount(text);
    ASSERT_TRUE(money) << text;
    EXPECT_EQ(money->to_string(), amount) << text;
  }
}

TEST(CapitalAmount, RefusesWhatLostACharacter) {
  for (const char* text : {"", "圆佰", "壹贰圆整", "壹佰叁仟圆整", "壹万贰亿圆整", "壹佰", "整",
                           "壹佰圆整叁分", "壹佰什拾圆整", "仟圆整", "壹圆壹圆", "13圆整"}) {
    EXPECT_FALSE(parse_capital_amount(text)) << text;
  }
}

}  // namespace
}  // namespace errand::invoices
