#include "bus/php_serialized.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::detail {
namespace {

/// As Symfony 5.4 and 7.2 store it: slashes included, `\\0` being a backslash and a zero.
constexpr const char* kGolden =
    R"golden(O:36:\"Symfony\\Component\\Messenger\\Envelope\":2:{s:44:\"\0Symfony\\Component\\Messenger\\Envelope\0stamps\";a:1:{s:46:\"Symfony\\Component\\Messenger\\Stamp\\BusNameStamp\";a:1:{i:0;O:46:\"Symfony\\Component\\Messenger\\Stamp\\BusNameStamp\":1:{s:55:\"\0Symfony\\Component\\Messenger\\Stamp\\BusNameStamp\0busName\";s:21:\"messenger.bus.default\";}}}s:45:\"\0Symfony\\Component\\Messenger\\Envelope\0message\";O:27:\"App\\Message\\SmsNotification\":6:{s:31:\"\0App\\Message\\SmsNotification\0to\";s:4:\"+491\";s:33:\"\0App\\Message\\SmsNotification\0text\";s:3:\"hé\";s:37:\"\0App\\Message\\SmsNotification\0priority\";i:3;s:31:\"\0App\\Message\\SmsNotification\0at\";N;s:30:\"\0App\\Message\\SmsNotification\0f\";d:1;s:33:\"\0App\\Message\\SmsNotification\0tags\";a:0:{}}})golden";

TEST(PhpSerialized, TheClassOfTheMessageIsRead) {
  EXPECT_EQ(php_message_class(kGolden), R"(App\Message\SmsNotification)");
}

TEST(PhpSerialized, ABodyThatWasNotUtf8IsBase64) {
  // `O:36:\"Symfony\\Component\\Messenger\\Envelope\":1:{s:45:\"\0…\0message\";O:1:\"X\":0:{}}`
  constexpr const char* kEncoded =
      "TzozNjpcIlN5bWZvbnlcXENvbXBvbmVudFxcTWVzc2VuZ2VyXFxFbnZlbG9wZVwiOjE6e3M6NDU6XCJcMFN5bWZvbnlc"
      "XENvbXBvbmVudFxcTWVzc2VuZ2VyXFxFbnZlbG9wZVwwbWVzc2FnZVwiO086MTpcIlhcIjowOnt9fQ==";
  EXPECT_TRUE(looks_php_serialized(kEncoded));
  EXPECT_EQ(php_message_class(kEncoded), "X");
}

TEST(PhpSerialized, JsonIsNot) {
  EXPECT_FALSE(looks_php_serialized(R"({"to":"+491"})"));
  EXPECT_EQ(php_message_class(R"({"to":"+491"})"), std::nullopt);
  EXPECT_EQ(php_message_class(""), std::nullopt);
}

TEST(PhpSerialized, StampsOfEveryKindAreSteppedOver) {
  const std::string stamps =
      R"(a:7:{i:0;N;i:1;b:1;i:2;i:-3;i:3;d:1.5;i:4;a:1:{s:1:\"k\";s:3:\"a;}\";}i:5;E:7:\"Suit:Up\";i:6;C:1:\"Z\":3:{abc}})";
  const std::string body =
      R"(O:36:\"Symfony\\Component\\Messenger\\Envelope\":2:{s:44:\"\0Symfony\\Component\\Messenger\\Envelope\0stamps\";)" +
      stamps +
      R"(s:45:\"\0Symfony\\Component\\Messenger\\Envelope\0message\";O:5:\"App\\M\":0:{}})";
  EXPECT_EQ(php_message_class(body), R"(App\M)");
}

TEST(PhpSerialized, NoCutMakesItThrowOrReadBeyondTheEnd) {
  const std::string whole = kGolden;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    static_cast<void>(php_message_class(whole.substr(0, length)));
    static_cast<void>(php_message_class(whole.substr(0, length) + "}"));
  }
}

TEST(PhpSerialized, NestingWithoutEndIsRefused) {
  std::string body = R"(O:36:\"Symfony\\Component\\Messenger\\Envelope\":2:{s:1:\"s\";)";
  for (int i = 0; i < 100'000; ++i) body += "a:1:{i:0;";
  EXPECT_EQ(php_message_class(body + "}"), std::nullopt);
}

}  // namespace
}  // namespace errand::detail
