#include "bus/symfony_serializer.hpp"

#include <gtest/gtest.h>
#include <string>

#include "bus/messenger_table.hpp"

namespace errand::detail {
namespace {

/// As Symfony 7.2 stores it.
constexpr const char* kBody =
    R"({"to":"+491","text":"h\u00e9","priority":3,"at":null,"f":1.0,"tags":[]})";
constexpr const char* kHeaders =
    R"({"type":"App\\Message\\SmsNotification","X-Message-Stamp-Symfony\\Component\\Messenger\\Stamp\\BusNameStamp":"[{\"busName\":\"messenger.bus.default\"}]","Content-Type":"application\/json"})";

WireMessage golden() { return {.body = kBody, .headers = read_wire_headers(kHeaders)}; }

std::string refusal(const WireMessage& message) {
  try {
    static_cast<void>(SymfonySerializer{}.read(message));
  } catch (const UnreadableMessage& error) {
    return error.what();
  }
  return "";
}

TEST(SymfonySerializer, ReadsWhatSymfonyWrote) {
  const Envelope envelope = SymfonySerializer{}.read(golden());
  EXPECT_EQ(envelope.type(), R"(App\Message\SmsNotification)");
  EXPECT_EQ(envelope.body(), kBody);
  EXPECT_EQ(envelope.headers(),
            (Headers{{R"(X-Message-Stamp-Symfony\Component\Messenger\Stamp\BusNameStamp)",
                      R"([{"busName":"messenger.bus.default"}])"}}));
}

TEST(SymfonySerializer, WritesWhatItRead) {
  const SymfonySerializer serializer;
  WireMessage message = golden();
  message.headers["X-Unknown"] = "carried";
  EXPECT_EQ(serializer.write(serializer.read(message)), message);
}

TEST(SymfonySerializer, ClassesAndTypesAreTranslatedBothWays) {
  SymfonySerializer serializer;
  serializer.add("sms.notify", R"(\App\Message\SmsNotification)");
  const Envelope envelope = serializer.read(golden());
  EXPECT_EQ(envelope.type(), "sms.notify");
  EXPECT_EQ(serializer.write(envelope), golden());
  EXPECT_EQ(serializer.type_of(golden()), "sms.notify");
  EXPECT_THROW(serializer.add("sms.notify", "App\\Other"), ConfigurationException);
  EXPECT_THROW(serializer.add("other", R"(App\Message\SmsNotification)"), ConfigurationException);
  EXPECT_NO_THROW(serializer.add("sms.notify", R"(App\Message\SmsNotification)"));
}

TEST(SymfonySerializer, ALeadingBackslashIsTolerated) {
  WireMessage message = golden();
  message.headers["type"] = R"(\App\Message\SmsNotification)";
  EXPECT_EQ(SymfonySerializer{}.read(message).type(), R"(App\Message\SmsNotification)");
}

TEST(SymfonySerializer, OnlyTheTypeIsNeeded) {
  EXPECT_EQ(SymfonySerializer{}.read({.body = "{}", .headers = {{"type", "X"}}}).type(), "X");
  EXPECT_NE(refusal({.body = "{}", .headers = {}}).find("`type`"), std::string::npos);
  EXPECT_NE(refusal({.body = "{}", .headers = {{"type", ""}}}).find("`type`"), std::string::npos);
}

TEST(SymfonySerializer, SaysWhyItCannotRead) {
  WireMessage message = golden();
  message.body = "{\"to\":";
  EXPECT_NE(refusal(message).find("the body"), std::string::npos);
  message = golden();
  message.headers["X-Message-Stamp-App\\S"] = R"({"no":"array"})";
  EXPECT_NE(refusal(message).find("X-Message-Stamp-App\\S"), std::string::npos);
  message = golden();
  message.headers["Content-Type"] = "application/xml";
  EXPECT_NE(refusal(message).find("application/xml"), std::string::npos);
  EXPECT_NE(refusal({.body = "{}", .headers = read_wire_headers("{")}).find("headers"),
            std::string::npos);
}

TEST(SymfonySerializer, ABodyOfPhpIsNamedByItsClass) {
  const WireMessage message{
      .body = R"(O:36:\"Symfony\\Component\\Messenger\\Envelope\":1:{s:45:\")"
              R"(\0Symfony\\Component\\Messenger\\Envelope\0message\";O:5:\"App\\M\":0:{}})"};
  EXPECT_EQ(SymfonySerializer{}.type_of(message), R"(App\M)");
  EXPECT_NE(refusal(message).find(R"(App\M)"), std::string::npos);
  EXPECT_NE(refusal(message).find("symfony_serializer"), std::string::npos);
}

TEST(SymfonySerializer, OfAMessageThatSaysNothingNothingIsSaid) {
  EXPECT_EQ(SymfonySerializer{}.type_of({.body = "x"}), "");
}

}  // namespace
}  // namespace errand::detail
