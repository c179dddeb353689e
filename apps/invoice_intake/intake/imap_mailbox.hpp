#pragma once

#include <optional>

#include "errand/logger.hpp"

#include "invoice_intake/intake/imap_connection.hpp"
#include "invoice_intake/intake/intake.hpp"
#include "invoice_intake/intake/maildir.hpp"

namespace errand::invoices {

/// Takes in the e-mails of a mailbox that were not taken in before, and marks what is stored, and
/// nothing else, by the keyword $ErrandStored; where the server keeps no keywords, by \Seen. What
/// is refused stays unmarked and is told once a session.
///
/// With `watch` it waits for more (IDLE) until `stop`; a lost server or database is waited for, and
/// whatever was not marked comes again. The Message-ID keeps it from being taken in twice. Without
/// `watch` it returns after one look.
///
/// Throws ImapLoginRefused; without `watch` also other ImapErrors and StorageException.
void take_imap(const ImapAccount& account, Intake& intake, const std::optional<Profile>& user,
               bool watch, const Stop& stop, const TellOutcome& tell, Logger& logger);

}  // namespace errand::invoices
