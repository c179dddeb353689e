#include "invoice_intake/mail/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <utility>

#include "errand/errors.hpp"

#include "invoice_intake/intake/sha256.hpp"
#include "invoice_intake/mail/parseable_part.hpp"
#include "invoice_intake/mail_samples.hpp"
#include "invoice_intake/store/profiles.hpp"

namespace errand::invoices {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Message read(const std::string& bytes) { return read_message(bytes, sha256_of(bytes)); }

TEST(Message, HeadersTextAndAttachmentsAreRead) {
  const Message message = read(make_mail({.subject = "=?GBK?B?t6LGsQ==?="}));
  EXPECT_EQ(message.message_id, "1@mail.example.com");
  EXPECT_EQ(message.from, "billing@seller.example");
  EXPECT_THAT(message.to, ElementsAre("ann+invoice@example.com"));
  EXPECT_EQ(message.subject, "发票");
  EXPECT_EQ(message.date, parse_iso8601("2026-01-01T02:00:00Z"));
  EXPECT_THAT(message.body_text, HasSubstr("请查收附件中的发票"));
  ASSERT_EQ(message.attachments.size(), 1U);
  EXPECT_EQ(message.attachments[0].filename, "invoice.pdf");
  EXPECT_EQ(message.attachments[0].content_type, "application/pdf");
}

TEST(Message, WithoutAnIdItGetsOneThatFollowsFromTheContent) {
  const std::string bytes = make_mail({.message_id = ""});
  EXPECT_EQ(read(bytes).message_id, read(bytes).message_id);
  EXPECT_NE(read(bytes).message_id, read(make_mail({.message_id = "", .subject = "2"})).message_id);
  const std::string long_id = "<" + std::string(300, 'x') + "@example.com>";
  EXPECT_EQ(read(make_mail({.message_id = long_id})).message_id.substr(0, 7), "sha256-");
}

TEST(Message, RawGbkAndControlCharactersBecomeStorableText) {
  EXPECT_EQ(read(make_mail({.subject = "\xb7\xa2\xc6\xb1"})).subject, "发票");
  EXPECT_EQ(read(make_mail({.subject = "=?utf-8?Q?a=00b=0Ac?="})).subject.find('\n'),
            std::string::npos);
  EXPECT_EQ(read(make_mail({.subject = std::string(2000, 'x')})).subject.size(), 500U);
}

TEST(Message, WhereItWasDeliveredIsReadApart) {
  const Message message = read(
      make_mail({.more_headers = "Delivered-To: bob@example.com\r\nX-Original-To: <c@d.e>\r\n"}));
  EXPECT_THAT(message.delivered_to, ElementsAre("bob@example.com", "c@d.e"));
}

TEST(Message, WhatIsNoEmailIsRefused) {
  EXPECT_THROW(read(""), ValidationException);
  EXPECT_THROW(read("%PDF-1.4 not a mail"), ValidationException);
  EXPECT_THROW(read(std::string(100, '\0')), ValidationException);
}

TEST(Message, PartsInPartsInPartsDoNoHarm) {
  std::string bytes = "From: a@b.c\r\nTo: ann@example.com\r\nMIME-Version: 1.0\r\n";
  for (int i = 0; i < 20'000; ++i) {
    bytes += "Content-Type: multipart/mixed; boundary=b" + std::to_string(i) + "\r\n\r\n--b" +
             std::to_string(i) + "\r\n";
  }
  EXPECT_EQ(read(bytes).from, "a@b.c");
  std::string many = "From: a@b.c\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n";
  for (int i = 0; i < 5'000; ++i) {
    many += "--b\r\nContent-Disposition: attachment; filename=f\r\n\r\nx\r\n";
  }
  EXPECT_LE(read(many).attachments.size(), 200U);
}

TEST(Message, ALongTextIsReadToItsColumnsLength) {
  std::string bytes = "From: a@b.c\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
  for (int i = 0; i < 200'000; ++i) bytes += "一行文字\r\n";
  EXPECT_THAT(read(bytes).body_text, ::testing::StartsWith("一行文字"));
}

TEST(Message, ItsBodyIsWhatStaysTheSameOnTheWay) {
  EXPECT_EQ(body_of("A: b\r\n\r\nbody"), "\r\nbody");
  EXPECT_EQ(body_of("A: b\n\nbody\r\n\r\nmore"), "\nbody\r\n\r\nmore");
  EXPECT_EQ(body_of("A: b"), "");
}

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string all;
  all.reserve(bytes + text.size());
  while (all.size() < bytes) all += text;
  return all;
}

/// Of this process, at most, so far; bytes.
std::size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

/// What a parser makes gigabytes of, in the process that knows the passwords.
TEST(Message, WhateverASenderMakesOfItMemoryStaysFlat) {
  constexpr std::size_t kSize = std::size_t{8} << 20;
  const std::string begin = "From: a@b.c\nTo: ann@example.com\n";
  const std::string multipart = begin + "Content-Type: multipart/mixed; boundary=B\n\n";
  const std::string inside = multipart + "--B\nContent-Type: message/rfc822\n\n";
  const std::pair<const char*, std::string> bombs[] = {
      {"headers", begin + repeated("X: y\n", kSize) + "\n"},
      {"headers with blanks", begin + repeated("X : y\n", kSize) + "\n"},
      {"headers that are none", begin + repeated("xy\n", kSize) + "\n"},
      {"headers of other bytes", begin + repeated("\xff: y\n", kSize) + "\n"},
      {"one long header", begin + "Cc: " + repeated("a@b.c, ", kSize) + "\n\n"},
      {"one folded header", begin + "Cc: x@y.z" + repeated(",\n a@b.c", kSize) + "\n\n"},
      {"parts", multipart + repeated("--B\n\nx\n", kSize)},
      {"headers of a part", multipart + "--B\n" + repeated("X: y\n", kSize)},
      {"headers of a message inside", inside + repeated("X: y\n", kSize)},
      {"one line inside", inside + "To: " + repeated("a@b.c, ", kSize)},
      {"a text", begin + "\n" + repeated("text\n", kSize)},
      {"encoded", begin + "Content-Transfer-Encoding: base64\n\n" + repeated("YWFh\n", kSize)},
  };
  for (const auto& [name, bytes] : bombs) {
    const std::size_t before = peak_memory();
    EXPECT_EQ(read(bytes).from, "a@b.c") << name;
    EXPECT_LT(peak_memory() - before, std::size_t{48} << 20) << name;
  }
}

TEST(ParseablePart, IsAllOfAnHonestMessage) {
  const std::string bytes = make_mail({.attachment = repeated("YWFhYWFh: x\r\n", 100'000)});
  EXPECT_EQ(parseable_part(bytes).size(), bytes.size());
  EXPECT_EQ(parseable_part(""), "");
}

TEST(ParseablePart, EndsWhereALimitIsReached) {
  const ParseLimits limits{.lines = 3, .header = 20, .headers = 40};
  EXPECT_EQ(parseable_part("A: 1\nB: 2\nC: 3\nD: 4\n", limits), "A: 1\nB: 2\nC: 3\n");
  EXPECT_EQ(parseable_part("A: " + std::string(100, 'x'), limits).size(), 20U);
  EXPECT_EQ(parseable_part("A: 1\n " + std::string(100, 'x'), limits).size(), 20U);
  EXPECT_EQ(parseable_part("\ntext\n text\n text\n text\n text\n", limits).size(), 30U)
      << "a text is no header";
}

TEST(Mailbox, IsTheAddressWithoutItsTagInLowerCase) {
  EXPECT_EQ(mailbox_of("Ann+invoice@Example.com"), "ann@example.com");
  EXPECT_EQ(mailbox_of("ann@example.com"), "ann@example.com");
  EXPECT_EQ(mailbox_of("ann+a+b@example.com"), "ann@example.com");
  EXPECT_EQ(mailbox_of("+a@example.com"), std::nullopt);
  EXPECT_EQ(mailbox_of("ann@"), std::nullopt);
  EXPECT_EQ(mailbox_of("@example.com"), std::nullopt);
  EXPECT_EQ(mailbox_of("ann@exa mple.com"), std::nullopt);
  EXPECT_EQ(mailbox_of(std::string(400, 'a') + "@b.c"), std::nullopt);
}

}  // namespace
}  // namespace errand::invoices
