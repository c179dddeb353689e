#include "errand/rethrow.hpp"

#include <exception>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace shop {

class CardRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class WithData : public std::exception {
 public:
  // NOLINTNEXTLINE(bugprone-throw-keyword-missing): ExceptionData is data, as its name says
  explicit WithData(errand::ExceptionData error) : data{std::move(error)} {}
  errand::ExceptionData data;
};

class Sealed final : public std::exception {
 public:
  explicit Sealed(const std::string& text) : message{text} {}
  std::string message;
};

}  // namespace shop

namespace errand {
namespace {

ExceptionData failure(const std::string& class_name) {
  ExceptionData data;
  data.class_name = class_name;
  data.message = "no money";
  data.code = 7;
  return data;
}

const TaskId kId = TaskId::from_string("550e8400-e29b-41d4-a716-446655440000");

TEST(ExceptionTypes, ThrowTheTypeThatIsRegistered) {
  ExceptionTypes types;
  types.add<shop::CardRefused>();
  try {
    types.rethrow(kId, failure("shop::CardRefused"));
  } catch (const shop::CardRefused& error) {
    EXPECT_STREQ(error.what(), "no money");
  }
}

TEST(ExceptionTypes, NestTheWholeFailureInIt) {
  ExceptionTypes types;
  types.add<shop::CardRefused>();
  bool nested = false;
  try {
    types.rethrow(kId, failure("shop::CardRefused"));
  } catch (const shop::CardRefused& error) {
    try {
      std::rethrow_if_nested(error);
    } catch (const TaskFailedException& failed) {
      nested = true;
      EXPECT_EQ(failed.id(), kId);
      EXPECT_EQ(failed.data(), failure("shop::CardRefused"));
    }
  }
  EXPECT_TRUE(nested);
}

TEST(ExceptionTypes, BuildTheTypeFromTheDataIfItCanBe) {
  ExceptionTypes types;
  types.add<shop::WithData>();
  try {
    types.rethrow(kId, failure("shop::WithData"));
  } catch (const shop::WithData& error) {
    EXPECT_EQ(error.data.code, 7);
  }
}

TEST(ExceptionTypes, ThrowFinalTypesAsTheyAre) {
  ExceptionTypes types;
  types.add<shop::Sealed>();
  EXPECT_THROW(types.rethrow(kId, failure("shop::Sealed")), shop::Sealed);
}

TEST(ExceptionTypes, MayHaveTheNamesOfOtherLanguages) {
  ExceptionTypes types;
  types.add<shop::CardRefused>("App\\Exception\\CardRefused");
  EXPECT_THROW(types.rethrow(kId, failure("App\\Exception\\CardRefused")), shop::CardRefused);
  EXPECT_THROW(types.rethrow(kId, failure("shop::CardRefused")), TaskFailedException);
}

TEST(ExceptionTypes, TheLastOneRegisteredForANameCounts) {
  ExceptionTypes types;
  types.add<shop::CardRefused>("X");
  types.add<std::logic_error>("X");
  EXPECT_THROW(types.rethrow(kId, failure("X")), std::logic_error);
}

TEST(ExceptionTypes, ThatAreNotRegisteredBecomeTaskFailedException) {
  const ExceptionTypes types;
  try {
    types.rethrow(kId, failure("shop::CardRefused"));
  } catch (const TaskFailedException& failed) {
    EXPECT_STREQ(failed.what(), "shop::CardRefused: no money");
    EXPECT_EQ(failed.id(), kId);
    EXPECT_EQ(failed.data(), failure("shop::CardRefused"));
  }
}

TEST(ExceptionTypes, AFailureThrownAgainIsDescribedWithTheTypeItHad) {
  ExceptionTypes types;
  types.add<shop::CardRefused>();
  try {
    types.rethrow(kId, failure("shop::CardRefused"));
  } catch (...) {
    const ExceptionData again = describe_exception(std::current_exception());
    EXPECT_EQ(again.class_name, "shop::CardRefused");
    ASSERT_NE(again.previous, nullptr);
    EXPECT_EQ(again.previous->class_name, "errand::TaskFailedException");
  }
}

}  // namespace
}  // namespace errand
