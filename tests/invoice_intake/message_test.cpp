#include "invoice_intake/mail/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errand/errors.hpp"

#include "invoice_intake/intake/sha256.hpp"
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
