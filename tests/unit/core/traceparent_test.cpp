#include "core/traceparent.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::detail {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParent = "00-" + kTrace + "-00f067aa0ba902b7-01";

TEST(Traceparent, TheFormOfVersion0IsRead) {
  EXPECT_TRUE(is_traceparent(kParent));
  EXPECT_EQ(trace_id({{"traceparent", kParent}}), kTrace);
}

TEST(Traceparent, LaterVersionsMayHaveMoreBehind) {
  const std::string later = "01" + kParent.substr(2);
  EXPECT_TRUE(is_traceparent(later));
  EXPECT_TRUE(is_traceparent(later + "-more"));
  EXPECT_FALSE(is_traceparent(later + "more"));
  EXPECT_FALSE(is_traceparent(kParent + "-more"));
}

TEST(Traceparent, OtherTextIsNone) {
  const std::string zeros(32, '0');
  for (const std::string& text :
       {std::string{}, std::string{"00"}, kParent.substr(1), kParent + "0",
        "ff" + kParent.substr(2), "00-" + zeros + "-00f067aa0ba902b7-01",
        "00-" + kTrace + "-0000000000000000-01", "00-" + kTrace + "-00F067AA0BA902B7-01",
        "00_" + kTrace + "-00f067aa0ba902b7-01", "00-" + kTrace + "-00f067aa0ba902b7-0x"}) {
    EXPECT_FALSE(is_traceparent(text)) << text;
    EXPECT_EQ(trace_id({{"traceparent", text}}), "");
  }
  EXPECT_EQ(trace_id({}), "");
}

}  // namespace
}  // namespace errand::detail
