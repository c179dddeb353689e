#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "unit/docs/document.hpp"

namespace errand::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReadmes[]{"README.md", "README.zh-CN.md"};

TEST(Readme, ShowsTheFirstExampleAsItIsBuilt) {
  const std::string example = "```cpp\n" + read_document("examples/quick_start.cpp") + "```";
  for (const char* readme : kReadmes) EXPECT_THAT(read_document(readme), HasSubstr(example));
}

TEST(Readme, ShowsWhatTheFirstExamplePrints) {
  const std::string output = "```\n" + read_document("examples/quick_start.expected") + "```";
  for (const char* readme : kReadmes) EXPECT_THAT(read_document(readme), HasSubstr(output));
}

}  // namespace
}  // namespace errand::testing
