#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"
#include "errand/message.hpp"

namespace shop {
struct SendEmail {};
struct PrintLabel {};
}  // namespace shop

namespace errand {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(MessageTypes, KnowTheNamesTheyWereGiven) {
  MessageTypes types;
  types.add<shop::SendEmail>("email.send");
  types.add<shop::PrintLabel>("label.print");
  EXPECT_EQ(types.name_of<shop::SendEmail>(), "email.send");
  EXPECT_EQ(types.name_of<shop::PrintLabel>(), "label.print");
}

TEST(MessageTypes, TheSameNameAgainIsFineAndAnotherIsNot) {
  MessageTypes types;
  types.add<shop::SendEmail>("email.send");
  EXPECT_NO_THROW(types.add<shop::SendEmail>("email.send"));
  try {
    types.add<shop::SendEmail>("mail");
    FAIL() << "must throw";
  } catch (const ConfigurationException& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("shop::SendEmail"), HasSubstr("email.send"), HasSubstr("mail")));
  }
  EXPECT_EQ(types.name_of<shop::SendEmail>(), "email.send");
}

TEST(MessageTypes, WithoutANameTheErrorShowsTheCallThatIsMissing) {
  const MessageTypes types;
  try {
    static_cast<void>(types.name_of<shop::SendEmail>());
    FAIL() << "must throw";
  } catch (const ConfigurationException& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("message<shop::SendEmail>(\""),
                                    HasSubstr("handle<shop::SendEmail>(\"")));
  }
}

TEST(MessageTypes, RefuseNamesThatCannotBeStored) {
  MessageTypes types;
  for (const std::string& name : {std::string{}, std::string{"a\nb"}, std::string(191, 'x')}) {
    EXPECT_THROW(types.add<shop::SendEmail>(name), ConfigurationException) << name;
  }
  EXPECT_THROW(static_cast<void>(types.name_of<shop::SendEmail>()), ConfigurationException);
}

}  // namespace
}  // namespace errand
