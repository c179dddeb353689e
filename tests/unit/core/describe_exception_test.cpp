#include <boost/throw_exception.hpp>
#include <exception>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"

#include "core/utf8.hpp"

namespace shop {

class CardRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Plain {
  int value = 0;
};

struct Silent : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};

template <class T>
struct Holder : std::exception {};

}  // namespace shop

namespace errand {
namespace {

template <class T>
ExceptionData described(T thrown) {
  return describe_exception(std::make_exception_ptr(thrown));
}

struct NameAndMessage {
  std::string class_name;
  std::string message;
  friend bool operator==(const NameAndMessage&, const NameAndMessage&) = default;
  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest asks for this name
  friend void PrintTo(const NameAndMessage& shown, std::ostream* out) {
    *out << shown.class_name << ": " << shown.message;
  }
};

NameAndMessage of(const ExceptionData& data) { return {data.class_name, data.message}; }

TEST(DescribeException, NamesTheTypeAndTheMessage) {
  EXPECT_EQ(of(described(shop::CardRefused{"no money"})),
            (NameAndMessage{"shop::CardRefused", "no money"}));
  EXPECT_EQ(of(described(std::out_of_range{"x"})), (NameAndMessage{"std::out_of_range", "x"}));
  EXPECT_EQ(described(std::bad_alloc{}).class_name, "std::bad_alloc");
}

TEST(DescribeException, LeavesThePlaceToWhoeverSawTheThrow) {
  const ExceptionData data = described(shop::CardRefused{"no money"});
  EXPECT_EQ(data.file, "");
  EXPECT_EQ(data.line, 0);
  EXPECT_EQ(data.trace, "");
  EXPECT_EQ(data.previous, nullptr);
  EXPECT_EQ(data.code, 0);
}

TEST(DescribeException, TakesTheCodeOfASystemError) {
  const ExceptionData data =
      described(std::system_error{ENOSPC, std::generic_category(), "writing"});
  EXPECT_EQ(data.class_name, "std::system_error");
  EXPECT_EQ(data.code, ENOSPC);
  EXPECT_THAT(data.message, ::testing::StartsWith("writing"));
}

TEST(DescribeException, ShowsValuesThatAreNoExceptions) {
  EXPECT_EQ(of(described(42)), (NameAndMessage{"int", "42"}));
  EXPECT_EQ(of(described(-42L)), (NameAndMessage{"long", "-42"}));
  EXPECT_EQ(of(described(42LL)), (NameAndMessage{"long long", "42"}));
  EXPECT_EQ(of(described(42U)), (NameAndMessage{"unsigned int", "42"}));
  EXPECT_EQ(of(described(42UL)), (NameAndMessage{"unsigned long", "42"}));
  EXPECT_EQ(of(described(42ULL)), (NameAndMessage{"unsigned long long", "42"}));
  EXPECT_EQ(of(described(static_cast<short>(-7))), (NameAndMessage{"short", "-7"}));
  EXPECT_EQ(of(described(static_cast<unsigned short>(7))), (NameAndMessage{"unsigned short", "7"}));
  EXPECT_EQ(of(described(true)), (NameAndMessage{"bool", "true"}));
  EXPECT_EQ(of(described(false)), (NameAndMessage{"bool", "false"}));
  EXPECT_EQ(of(described('x')), (NameAndMessage{"char", "x"}));
  EXPECT_EQ(of(described(0.5)), (NameAndMessage{"double", "0.5"}));
  EXPECT_EQ(of(described(0.5F)), (NameAndMessage{"float", "0.5"}));
}

TEST(DescribeException, ShowsStringsOfEveryKind) {
  EXPECT_EQ(of(described(std::string{"text"})), (NameAndMessage{"std::string", "text"}));
  EXPECT_EQ(of(described("text")), (NameAndMessage{"char const*", "text"}));
  EXPECT_EQ(described(std::string_view{"text"}).message, "text");
  EXPECT_EQ(described(static_cast<const char*>(nullptr)).message, "");
  std::string buffer = "text";
  EXPECT_EQ(of(described(buffer.data())), (NameAndMessage{"char*", "text"}));
}

TEST(DescribeException, SaysThatOtherTypesAreNoExceptions) {
  const ExceptionData data = described(shop::Plain{7});
  EXPECT_EQ(data.class_name, "shop::Plain");
  EXPECT_EQ(data.message,
            "an object of type shop::Plain, which is not a std::exception, was thrown");
}

TEST(DescribeException, BearsAnExceptionWithoutAMessage) {
  EXPECT_EQ(of(described(shop::Silent{})), (NameAndMessage{"shop::Silent", ""}));
}

TEST(DescribeException, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(described(std::runtime_error{"caf\xE9"}).message, "caf\xEF\xBF\xBD");
  EXPECT_EQ(described(std::string{"caf\xE9"}).message, "caf\xEF\xBF\xBD");
  EXPECT_EQ(described('\xE9').message, "\xEF\xBF\xBD");
}

TEST(DescribeException, CutsMessagesThatAreTooLong) {
  const ExceptionData data = described(std::runtime_error{std::string(100'000, 'x')});
  EXPECT_EQ(data.message.size(), 64U * 1024);
  EXPECT_TRUE(data.message.ends_with("x…"));
}

template <class Inner, class Outer>
std::exception_ptr nested(Inner inner, Outer outer) {
  try {
    try {
      throw inner;
    } catch (...) {
      std::throw_with_nested(outer);
    }
  } catch (...) {
    return std::current_exception();
  }
}

TEST(DescribeException, FollowsTheChainAndNamesTheTypesPeopleKnow) {
  const ExceptionData data = describe_exception(nested(42, shop::CardRefused{"while charging"}));
  EXPECT_EQ(of(data), (NameAndMessage{"shop::CardRefused", "while charging"}));
  ASSERT_NE(data.previous, nullptr);
  EXPECT_EQ(of(*data.previous), (NameAndMessage{"int", "42"}));
  EXPECT_EQ(data.previous->previous, nullptr);
}

TEST(DescribeException, FollowsChainsOfTypesThatAreNoExceptions) {
  const ExceptionData data = describe_exception(nested(std::logic_error{"cause"}, shop::Plain{1}));
  EXPECT_EQ(data.class_name, "shop::Plain");
  ASSERT_NE(data.previous, nullptr);
  EXPECT_EQ(of(*data.previous), (NameAndMessage{"std::logic_error", "cause"}));
}

[[noreturn]] void throw_chain(int levels) {
  if (levels == 1) throw std::runtime_error{"innermost"};
  try {
    throw_chain(levels - 1);
  } catch (...) {
    std::throw_with_nested(std::runtime_error{"level " + std::to_string(levels)});
  }
}

TEST(DescribeException, CutsChainsThatAreTooLong) {
  for (const int levels : {1, kMaxPreviousExceptions + 1, 50}) {
    std::exception_ptr error;
    try {
      throw_chain(levels);
    } catch (...) {
      error = std::current_exception();
    }
    const ExceptionData data = describe_exception(error);
    int described_levels = 1;
    for (const ExceptionData* level = data.previous.get(); level != nullptr;
         level = level->previous.get()) {
      ++described_levels;
    }
    EXPECT_EQ(described_levels, std::min(levels, kMaxPreviousExceptions + 1));
  }
}

TEST(DescribeException, BearsANestedExceptionThatNestsNothing) {
  struct Empty : std::runtime_error, std::nested_exception {
    Empty() : std::runtime_error{"alone"} {}
  };
  const ExceptionData data = described(Empty{});
  EXPECT_EQ(data.message, "alone");
  EXPECT_EQ(data.previous, nullptr);
}

TEST(DescribeException, UnwrapsWhatBoostThrows) {
  try {
    boost::throw_exception(shop::CardRefused{"no money"});
  } catch (...) {
    EXPECT_EQ(of(describe_exception(std::current_exception())),
              (NameAndMessage{"shop::CardRefused", "no money"}));
  }
}

TEST(ReadableTypeName, IsWhatAProgrammerWouldWrite) {
  EXPECT_EQ(readable_type_name(typeid(int)), "int");
  EXPECT_EQ(readable_type_name(typeid(std::string)), "std::string");
  EXPECT_EQ(readable_type_name(typeid(shop::CardRefused)), "shop::CardRefused");
  EXPECT_EQ(readable_type_name(typeid(StorageException)), "errand::StorageException");
  EXPECT_EQ(readable_type_name(typeid(shop::Holder<std::string>)), "shop::Holder<std::string>");
  EXPECT_THAT(readable_type_name(typeid(std::vector<std::string>)),
              ::testing::HasSubstr("std::vector<std::string"));
  EXPECT_THAT(readable_type_name(typeid(std::ios_base::failure)),
              ::testing::Not(::testing::HasSubstr("__cxx11")));
}

}  // namespace
}  // namespace errand
