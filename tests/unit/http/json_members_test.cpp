#include "http/json_members.hpp"

#include <gtest/gtest.h>

namespace errand::http {
namespace {

TEST(JsonMembers, ValuesAreAsTheyWereWritten) {
  const std::vector<JsonMember> members =
      members_of("\n{ \"a\" : 1.0 ,\"b\":{\"c\":[1,\"}\"]}, \"d\\u0065\":\"x\\\"y\" ,\"f\":[] }  ");
  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members[0].name, "a");
  EXPECT_EQ(members[0].value, "1.0");
  EXPECT_EQ(members[1].value, "{\"c\":[1,\"}\"]}");
  EXPECT_EQ(members[2].name, "de");
  EXPECT_EQ(members[2].value, "\"x\\\"y\"");
  EXPECT_EQ(members[3].value, "[]");
}

TEST(JsonMembers, AnEmptyObjectHasNone) {
  EXPECT_TRUE(members_of("{}").empty());
  EXPECT_TRUE(members_of(" { } ").empty());
}

}  // namespace
}  // namespace errand::http
