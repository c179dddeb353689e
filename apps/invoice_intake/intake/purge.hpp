#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "invoice_intake/intake/originals.hpp"
#include "invoice_intake/model/profile.hpp"
#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

struct PurgeOptions {
  std::chrono::milliseconds older_than{};  ///< since the task ended, or was deleted
  std::optional<Profile> user{};           ///< only this one's tasks; nullopt: everybody's
  bool dry_run = false;                    ///< count, and change nothing
};

struct PurgeReport {
  std::int64_t tasks = 0;      ///< whose content was taken out
  std::int64_t originals = 0;  ///< files removed
  std::int64_t bytes = 0;      ///< of those files
};

/// Takes the content out of tasks that ended long ago: texts and attachment names of the e-mail,
/// and the original, unless a task that stays needs it. What an audit asks for stays: who, when,
/// what about, what came of each attachment, and all invoices. So does the Message-ID: the e-mail
/// is not taken in again.
///
/// May run beside ingest and workers. Throws StorageException, std::system_error.
PurgeReport purge(Database& database, const Originals& originals, const PurgeOptions& options);

}  // namespace errand::invoices
