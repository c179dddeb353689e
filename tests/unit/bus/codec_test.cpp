#include "errand/codec.hpp"

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "errand/errors.hpp"

namespace shop {

enum class Colour { red, green };
BOOST_DESCRIBE_ENUM(Colour, red, green)

struct Item {
  std::string name;
  double price = 0;
  std::optional<std::string> note;
  friend bool operator==(const Item&, const Item&) = default;
};
BOOST_DESCRIBE_STRUCT(Item, (), (name, price, note))

struct Document {
  std::int64_t number = 0;
  friend bool operator==(const Document&, const Document&) = default;
};
BOOST_DESCRIBE_STRUCT(Document, (), (number))

struct Order : Document {
  bool paid = false;
  Colour colour = Colour::red;
  std::vector<Item> items;
  std::map<std::string, std::vector<int>> stock;
  std::optional<Item> gift;
  boost::json::value extra;
  friend bool operator==(const Order&, const Order&) = default;
};
BOOST_DESCRIBE_STRUCT(Order, (Document), (paid, colour, items, stock, gift, extra))

struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};
BOOST_DESCRIBE_STRUCT(Nothing, (), ())

struct Sizes {
  std::int8_t i8 = 0;
  std::uint8_t u8 = 0;
  std::int16_t i16 = 0;
  std::uint16_t u16 = 0;
  std::int32_t i32 = 0;
  std::uint32_t u32 = 0;
  std::int64_t i64 = 0;
  std::uint64_t u64 = 0;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};
BOOST_DESCRIBE_STRUCT(Sizes, (), (i8, u8, i16, u16, i32, u32, i64, u64))

struct Tree {
  std::vector<Tree> branches;
};
BOOST_DESCRIBE_STRUCT(Tree, (), (branches))

}  // namespace shop

namespace errand {
namespace {

using ::testing::HasSubstr;

template <class T>
std::string decode_error(std::string_view text) {
  try {
    static_cast<void>(decode<T>(text));
  } catch (const ValidationException& error) {
    return error.what();
  }
  return "no error";
}

template <class T>
std::string encode_error(const T& value) {
  try {
    return "no error: " + encode(value);
  } catch (const ValidationException& error) {
    return error.what();
  }
}

template <class T>
void expect_both_ways(const T& value, const std::string& text) {
  EXPECT_EQ(encode(value), text);
  EXPECT_EQ(decode<T>(text), value) << text;
}

TEST(Codec, KnowsTheSimpleTypes) {
  expect_both_ways(true, "true");
  expect_both_ways(false, "false");
  expect_both_ways(0, "0");
  expect_both_ways(-7L, "-7");
  expect_both_ways(0.5, "0.5");
  expect_both_ways(0.25F, "0.25");
  expect_both_ways(1.0, "1.0");
  expect_both_ways(1e300, "1e+300");
  expect_both_ways(std::string{"a\"\n好"}, "\"a\\\"\\n好\"");
  expect_both_ways(std::string{}, "\"\"");
  expect_both_ways(std::string(1, '\0'), R"("\u0000")");
}

TEST(Codec, KnowsTheContainers) {
  expect_both_ways(std::vector<int>{}, "[]");
  expect_both_ways(std::vector<int>{1, -2}, "[1,-2]");
  expect_both_ways(std::vector<bool>{true, false}, "[true,false]");
  expect_both_ways(std::vector<std::vector<std::string>>{{"a"}, {}}, R"([["a"],[]])");
  expect_both_ways(std::map<std::string, int>{}, "{}");
  expect_both_ways(std::map<std::string, int>{{"", 0}, {"b\"", 2}}, R"({"":0,"b\"":2})");
  expect_both_ways(std::optional<int>{}, "null");
  expect_both_ways(std::optional<int>{7}, "7");
  expect_both_ways(std::vector<std::optional<int>>{1, std::nullopt}, "[1,null]");
  expect_both_ways(std::map<std::string, std::string, std::less<>>{{"a", "b"}}, R"({"a":"b"})");
}

TEST(Codec, KnowsDescribedEnumsByTheirWords) {
  expect_both_ways(shop::Colour::green, "\"green\"");
  EXPECT_EQ(decode_error<shop::Colour>("\"blue\""), "expected one of red, green, got another word");
  EXPECT_EQ(decode_error<shop::Colour>("1"), "expected a string, got a number");
  EXPECT_EQ(encode_error(static_cast<shop::Colour>(9)), "the enum has no name for this value");
}

TEST(Codec, KnowsDescribedStructsWithTheirBases) {
  shop::Order order;
  order.number = 12;
  order.paid = true;
  order.colour = shop::Colour::green;
  order.items = {{"pen", 1.5, "blue"}, {"ink", 2, std::nullopt}};
  order.stock = {{"here", {1, 2}}, {"there", {}}};
  order.extra = {{"k", nullptr}};
  expect_both_ways(
      order, R"({"number":12,"paid":true,"colour":"green",)"
             R"("items":[{"name":"pen","price":1.5,"note":"blue"},{"name":"ink","price":2.0}],)"
             R"("stock":{"here":[1,2],"there":[]},"extra":{"k":null}})");
  expect_both_ways(shop::Nothing{}, "{}");
}

TEST(Codec, KnowsAnyJson) {
  for (const char* text : {"null", "true", "[]", "{}", R"([1,-2,0.5,"x",{"a":[]}])",
                           "18446744073709551615", "1.0", "-0.0"}) {
    EXPECT_EQ(encode(decode<boost::json::value>(text)), text);
  }
}

TEST(Codec, AValueReadFromAMessageOutlivesIt) {
  const std::string long_text = "long enough not to fit inside the value itself";
  const std::string any = R"({"text":")" + long_text + R"("})";
  const auto text_of = [](const boost::json::value& value) { return value.at("text").as_string(); };
  const auto order = decode<shop::Order>(
      R"({"number":1,"paid":true,"colour":"red","items":[],"stock":{},"extra":)" + any + "}");
  EXPECT_EQ(text_of(order.extra), long_text);
  EXPECT_EQ(text_of(*decode<std::optional<boost::json::value>>(any)), long_text);
  EXPECT_EQ(text_of(decode<std::vector<boost::json::value>>("[" + any + "]").at(0)), long_text);
  EXPECT_EQ(
      text_of(decode<std::map<std::string, boost::json::value>>(R"({"a":)" + any + "}").at("a")),
      long_text);
}

TEST(Codec, OptionalMembersMayBeMissingOrNull) {
  const shop::Item expected{"pen", 1, std::nullopt};
  EXPECT_EQ(decode<shop::Item>(R"({"name":"pen","price":1})"), expected);
  EXPECT_EQ(decode<shop::Item>(R"({"name":"pen","price":1,"note":null})"), expected);
}

TEST(Codec, UnknownMembersAreIgnored) {
  EXPECT_EQ(decode<shop::Item>(R"({"name":"pen","later":{"x":[1]},"price":1})").name, "pen");
}

TEST(Codec, TheErrorNamesTheMember) {
  const auto order_with = [](const std::string& items) {
    return R"({"number":1,"paid":true,"colour":"red","stock":{},"extra":null,"items":)" + items +
           "}";
  };
  const std::pair<std::string, const char*> cases[] = {
      {order_with(R"([{"name":"a","price":1},{"name":"b","price":"x"}])"),
       "items[1].price: expected a number, got a string"},
      {order_with(R"([{"price":1}])"), "items[0].name: is missing"},
      {order_with(R"([{"name":null,"price":1}])"), "items[0].name: expected a string, got null"},
      {order_with("[[]]"), "items[0]: expected an object, got an array"},
      {order_with("{}"), "items: expected an array, got an object"},
      {"[]", "expected an object, got an array"},
      {"{}", "number: is missing"},
      {R"({"number":1,"paid":1})", "paid: expected a bool, got a number"},
      {R"({"number":1,"paid":true,"colour":"blue"})", "colour: expected one of red, green"},
      {R"({"number":1,"paid":true,"colour":"red","items":[],"stock":{"a":[1,"x"]}})",
       "stock.a[1]: expected an integer, got a string"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(decode_error<shop::Order>(text), ::testing::StartsWith(message)) << text;
  }
}

TEST(Codec, KeepsIntegersOfEverySizeAtTheirLimits) {
  const shop::Sizes smallest{INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0, INT64_MIN, 0};
  const shop::Sizes biggest{INT8_MAX,  UINT8_MAX,  INT16_MAX, UINT16_MAX,
                            INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
  EXPECT_EQ(decode<shop::Sizes>(encode(smallest)), smallest);
  EXPECT_EQ(decode<shop::Sizes>(encode(biggest)), biggest);
}

TEST(Codec, RefusesIntegersThatDoNotFit) {
  EXPECT_THAT(decode_error<std::int8_t>("128"), HasSubstr("from -128 to 127"));
  EXPECT_THAT(decode_error<std::int8_t>("-129"), HasSubstr("from -128 to 127"));
  EXPECT_THAT(decode_error<std::uint8_t>("256"), HasSubstr("from 0 to 255"));
  EXPECT_THAT(decode_error<std::uint8_t>("-1"), HasSubstr("from 0 to 255"));
  EXPECT_THAT(decode_error<std::int64_t>("9223372036854775808"), HasSubstr("got one outside"));
  EXPECT_THAT(decode_error<std::uint64_t>("-1"), HasSubstr("from 0 to 18446744073709551615"));
  EXPECT_EQ(decode_error<std::uint64_t>("18446744073709551616"),
            "expected an integer, got a number");
}

TEST(Codec, TakesIntegersForFloatingPointButNotTheOtherWay) {
  EXPECT_EQ(decode<double>("1"), 1.0);
  EXPECT_EQ(decode<double>("18446744073709551615"), 18446744073709551615.0);
  EXPECT_EQ(decode<float>("-3"), -3.0F);
  EXPECT_EQ(decode_error<int>("1.0"), "expected an integer, got a number");
  EXPECT_EQ(decode_error<int>("1e2"), "expected an integer, got a number");
  EXPECT_EQ(decode_error<int>("true"), "expected an integer, got a bool");
  EXPECT_EQ(decode_error<bool>("0"), "expected a bool, got a number");
}

TEST(Codec, RefusesNumbersTooBigForAFloat) {
  EXPECT_THAT(decode_error<float>("1e39"), HasSubstr("smaller number"));
  EXPECT_THAT(decode_error<float>("-1e39"), HasSubstr("smaller number"));
  EXPECT_EQ(decode<float>(encode(std::numeric_limits<float>::max())),
            std::numeric_limits<float>::max());
  EXPECT_EQ(decode<double>(encode(std::numeric_limits<double>::denorm_min())),
            std::numeric_limits<double>::denorm_min());
}

TEST(Codec, RefusesToWriteWhatJsonCannotHold) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(encode_error(std::nan("")), "JSON has no NaN and no infinity");
  EXPECT_EQ(encode_error(shop::Item{"pen", kInfinity, {}}),
            "price: JSON has no NaN and no infinity");
  EXPECT_EQ(encode_error(shop::Item{"pen\xFF", 0, {}}),
            "name: must be UTF-8, and is not at byte 3");
  EXPECT_EQ(encode_error(std::vector<std::map<std::string, std::string>>{{{"a", "\xFF"}}}),
            "[0].a: must be UTF-8, and is not at byte 0");
  EXPECT_THAT(encode_error(std::map<std::string, int>{{"\xFF", 1}}), HasSubstr("must be UTF-8"));
  boost::json::value any = {{"list", {1, kInfinity}}};
  EXPECT_EQ(encode_error(any), "list[1]: JSON has no NaN and no infinity");
  any = {{"text", "\xFF"}};
  EXPECT_EQ(encode_error(any), "text: must be UTF-8, and is not at byte 0");
}

TEST(Codec, WritesAsDeepAsItReads) {
  const auto tree = [](int levels) {
    shop::Tree root;
    for (int i = 1; i < levels; ++i) {
      shop::Tree parent;
      parent.branches.push_back(std::move(root));
      root = std::move(parent);
    }
    return root;
  };
  // Each level is an object with an array in it.
  const std::string deepest = encode(tree(32));
  EXPECT_EQ(encode(decode<shop::Tree>(deepest)), deepest);
  EXPECT_EQ(encode(decode<boost::json::value>(deepest)), deepest);
  EXPECT_THAT(encode_error(tree(33)), HasSubstr("deeper than 64 levels"));

  boost::json::value any;
  for (int i = 0; i < 64; ++i) any = boost::json::array{any};
  EXPECT_EQ(decode<boost::json::value>(encode(any)), any);
  any = boost::json::array{any};
  EXPECT_THAT(encode_error(any), HasSubstr("deeper than 64 levels"));
}

TEST(Codec, LimitsWhatItReads) {
  EXPECT_THROW(static_cast<void>(decode<std::vector<int>>("[1,2]", {.max_bytes = 4})),
               ValidationException);
  EXPECT_THROW(static_cast<void>(decode<boost::json::value>("[[1]]", {.max_depth = 1})),
               ValidationException);
  EXPECT_THAT(decode_error<shop::Item>("{"), HasSubstr("not JSON at byte 1"));
}

TEST(Codec, ReadsDocumentsBiggerThanItsBuffers) {
  std::vector<std::string> texts;
  texts.reserve(1000);
  for (int i = 0; i < 1000; ++i) texts.push_back(std::string(1000, 'x') + std::to_string(i));
  EXPECT_EQ(decode<std::vector<std::string>>(encode(texts)), texts);
}

}  // namespace
}  // namespace errand
