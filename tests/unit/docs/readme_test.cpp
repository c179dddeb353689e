#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "unit/docs/document.hpp"

namespace errand::testing {
namespace {

using ::testing::HasSubstr;

class Readme : public ::testing::TestWithParam<const char*> {};

TEST_P(Readme, ShowsTheFirstExampleAsItIsBuilt) {
  EXPECT_THAT(read_document(GetParam()),
              HasSubstr("```cpp\n" + read_document("examples/quick_start.cpp") + "```"));
}

TEST_P(Readme, ShowsWhatTheFirstExamplePrints) {
  EXPECT_THAT(read_document(GetParam()),
              HasSubstr("```\n" + read_document("examples/quick_start.expected") + "```"));
}

INSTANTIATE_TEST_SUITE_P(BothLanguages, Readme, ::testing::Values("README.md", "README.zh-CN.md"));

}  // namespace
}  // namespace errand::testing
