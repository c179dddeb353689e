#include "invoice_intake/intake/imap_text.hpp"

#include <gtest/gtest.h>

#include "errand/errors.hpp"

namespace errand::invoices {
namespace {

TEST(ImapText, MailboxNamesAreWrittenInModifiedUtf7) {
  EXPECT_EQ(imap_mailbox_name("INBOX"), "INBOX");
  EXPECT_EQ(imap_mailbox_name("Tom & Jerry"), "Tom &- Jerry");
  EXPECT_EQ(imap_mailbox_name("台北"), "&U,BTFw-");
  EXPECT_EQ(imap_mailbox_name("~peter/mail/台北/日本語"), "~peter/mail/&U,BTFw-/&ZeVnLIqe-");
  EXPECT_EQ(imap_mailbox_name("😀"), "&2D3eAA-");
  EXPECT_THROW(static_cast<void>(imap_mailbox_name("\xff")), ConfigurationException);
}

TEST(ImapText, ABodyComesAsALiteralOrInQuotes) {
  ImapLine literal{.text = "* 1 FETCH (UID 7 BODY[] {5})", .literals = {"hello"}};
  EXPECT_EQ(fetched_body(literal), "hello");
  ImapLine quoted{.text = R"(* 1 FETCH (BODY[] "From: \"a\" \\ b" UID 7))"};
  EXPECT_EQ(fetched_body(quoted), R"(From: "a" \ b)");
  ImapLine empty{.text = R"(* 1 FETCH (UID 7 BODY[] ""))"};
  EXPECT_EQ(fetched_body(empty), "");
  ImapLine none{.text = "* 1 FETCH (UID 7 BODY[] NIL)"};
  EXPECT_EQ(fetched_body(none), std::nullopt);
  ImapLine flags{.text = "* 1 FETCH (FLAGS (\\Seen))"};
  EXPECT_EQ(fetched_body(flags), std::nullopt);
}

}  // namespace
}  // namespace errand::invoices
