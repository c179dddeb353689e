#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "errand/logger.hpp"

#include "invoice_intake/intake/intake.hpp"
#include "invoice_intake/intake/stop.hpp"

namespace errand::invoices {

using TellOutcome = std::function<void(const IntakeOutcome&)>;

/// Takes in what is in `directory`/new; what is stored moves to cur, the rest stays. With `watch`
/// it goes on until `stop`, as files arrive; without, it returns when new has been gone through
/// once. While the database cannot be reached it waits and tries again, if it watches. Throws
/// ConfigurationException if the directory is no Maildir; StorageException.
void take_maildir(const std::filesystem::path& directory, Intake& intake,
                  const std::optional<Profile>& user, bool watch, const Stop& stop,
                  const TellOutcome& tell, Logger& logger);

}  // namespace errand::invoices
