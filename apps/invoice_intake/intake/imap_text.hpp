#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "invoice_intake/intake/imap_connection.hpp"

/// How IMAP writes names and contents.
namespace errand::invoices {

/// The name of a mailbox as RFC 3501 wants it, in modified UTF-7: `发票` is `&U9F5aA-`. Throws
/// ConfigurationException if it is not UTF-8.
[[nodiscard]] std::string imap_mailbox_name(std::string_view utf8);

/// The e-mail in an answer to FETCH BODY[], which servers send as a literal or, rarely, in quotes;
/// nullopt if there is none in it. Takes it out of `line`.
[[nodiscard]] std::optional<std::string> fetched_body(ImapLine& line);

}  // namespace errand::invoices
