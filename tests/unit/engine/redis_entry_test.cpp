#include <gtest/gtest.h>
#include <string>

#include "engine/redis/entry.hpp"

namespace errand::redis {
namespace {

using Field = Entry::Field;

/// As the server's cmsgpack writes a text.
std::string packed(const std::string& text) {
  const auto byte = [](std::size_t value) {
    return std::string(1, static_cast<char>(value & 0xffU));
  };
  const std::size_t size = text.size();
  if (size < 32) return byte(0xa0U | size) + text;
  if (size < 0x100) return byte(0xd9) + byte(size) + text;
  if (size < 0x10000) return byte(0xda) + byte(size >> 8U) + byte(size) + text;
  return byte(0xdb) + byte(size >> 24U) + byte(size >> 16U) + byte(size >> 8U) + byte(size) + text;
}

const std::string kNil = "\xc0";
const std::string kFalse = "\xc2";

TEST(RedisEntry, TextsOfAllLengthsAreRead) {
  for (const std::size_t size : {0U, 1U, 31U, 32U, 255U, 256U, 65'535U, 65'536U, 1'000'000U}) {
    const std::string text(size, 'x');
    const std::string whole = packed("pending") + packed(text) + packed("7");
    const Entry entry{whole};
    EXPECT_EQ(entry.text(Field::status), "pending");
    EXPECT_TRUE(entry.has(Field::version)) << size;
    EXPECT_EQ(entry.text(Field::version), text) << size;
    EXPECT_EQ(entry.integer(Field::started_at), 7);
  }
}

TEST(RedisEntry, WhatIsPackedHereIsReadByTheServer) {
  for (const std::size_t size : {0U, 1U, 31U, 32U, 255U, 256U, 65'535U, 65'536U, 1'000'000U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(pack({"a", text, ""}), packed("a") + packed(text) + packed("")) << size;
  }
}

TEST(RedisEntry, NilAndFalseAreNothing) {
  const std::string whole = packed("pending") + kNil + kFalse + packed("mail");
  const Entry entry{whole};
  EXPECT_FALSE(entry.has(Field::version));
  EXPECT_EQ(entry.integer(Field::version), 0);
  EXPECT_FALSE(entry.has(Field::started_at));
  EXPECT_EQ(entry.optional_text(Field::started_at), std::nullopt);
  EXPECT_EQ(entry.optional_text(Field::completed_at), "mail");
}

TEST(RedisEntry, WhatIsCutOffIsNothing) {
  std::string whole = packed("pending") + packed(std::string(300, 'x')) + packed("7");
  const std::string before = whole;
  for (std::size_t size = 0; size < before.size(); ++size) {
    whole.resize(before.size() - size - 1);
    whole.shrink_to_fit();
    const Entry entry{whole};
    EXPECT_FALSE(entry.has(Field::started_at)) << size;
  }
}

TEST(RedisEntry, WhatIsNoEntryIsNothing) {
  const Entry number{"\x07"};
  EXPECT_FALSE(number.has(Field::status));
  const Entry list{"\x93\x01\x02\x03"};
  EXPECT_FALSE(list.has(Field::status));
  const std::string too_long = "\xdb\xff\xff\xff\xffx";
  EXPECT_FALSE(Entry{too_long}.has(Field::status));
}

}  // namespace
}  // namespace errand::redis
