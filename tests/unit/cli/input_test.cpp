#include "cli/input.hpp"

#include <gtest/gtest.h>
#include <sstream>

#include "errand/errors.hpp"
#include "errand/task.hpp"

namespace errand::cli {
namespace {

TEST(Input, ADashIsStandardInput) {
  std::istringstream text{"all\nof it"};
  Input input{"-", text};
  EXPECT_EQ(input.name(), "standard input");
  EXPECT_EQ(input.size(), std::nullopt);
  EXPECT_EQ(input.read_all(), "all\nof it");
}

TEST(Input, LinesComeOneByOneWithTheirNumbers) {
  std::istringstream text{"one\n\nthree"};
  Input input{"-", text};
  EXPECT_EQ(input.read_line(), "one");
  EXPECT_EQ(input.line_number(), 1);
  EXPECT_EQ(input.read_line(), "");
  EXPECT_EQ(input.read_line(), "three");
  EXPECT_EQ(input.line_number(), 3);
  EXPECT_EQ(input.position(), 10U);
  EXPECT_EQ(input.read_line(), std::nullopt);
  EXPECT_EQ(input.line_number(), 3);
}

TEST(Input, ALineFeedAtTheEndBeginsNoFurtherLine) {
  std::istringstream text{"one\n"};
  Input input{"-", text};
  EXPECT_EQ(input.read_line(), "one");
  EXPECT_EQ(input.read_line(), std::nullopt);
}

TEST(Input, ALineLongerThanADocumentIsRefused) {
  std::istringstream text{"{}\n" + std::string(kMaxDocumentBytes + 1, ' ')};
  Input input{"-", text};
  EXPECT_EQ(input.read_line(), "{}");
  try {
    (void)input.read_line();
    FAIL();
  } catch (const ValidationException& error) {
    EXPECT_STREQ(
        error.what(),
        "line 2 of standard input is longer than the 67,108,864 bytes a document may have");
  }
}

TEST(Input, AFileThatIsNotThereIsNamed) {
  std::istringstream unused;
  try {
    const Input input{"no/such/file.json", unused};
    FAIL();
  } catch (const ConfigurationException& error) {
    EXPECT_STREQ(error.what(), "cannot read no/such/file.json: No such file or directory");
  }
}

TEST(Input, ADirectoryCannotBeRead) {
  std::istringstream unused;
  Input all{"/", unused};
  EXPECT_THROW((void)all.read_all(), ConfigurationException);
  Input lines{"/", unused};
  EXPECT_THROW((void)lines.read_line(), ConfigurationException);
}

}  // namespace
}  // namespace errand::cli
