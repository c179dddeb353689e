#include "http/error_pattern.hpp"

#include <gtest/gtest.h>

namespace errand::http {
namespace {

TEST(ErrorPattern, WordsWithDigitsAreLeftOut) {
  EXPECT_EQ(error_pattern("order 17 of 0d9b3f0e-8c67-4d8e is gone"), "order # of # is gone");
  EXPECT_EQ(error_pattern("at 10:30, x=1.5"), "at #:#, x=#.#");
}

TEST(ErrorPattern, PathsAndEncodedBytesAreLeftOut) {
  EXPECT_EQ(error_pattern("cannot open /srv/in/letter.pdf"), "cannot open #.pdf");
  EXPECT_EQ(error_pattern("bad token " + std::string(41, 'x')), "bad token #");
  EXPECT_EQ(error_pattern("neither and/or nor a-b"), "neither and/or nor a-b");
}

TEST(ErrorPattern, OtherTextStays) {
  EXPECT_EQ(error_pattern("cannot reach the host, 无法连接"), "cannot reach the host, 无法连接");
  EXPECT_EQ(error_pattern(""), "");
}

}  // namespace
}  // namespace errand::http
