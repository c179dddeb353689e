#pragma once

#include <optional>
#include <string>
#include <vector>

#include "errand/dsn.hpp"

namespace errand::invoices {

inline constexpr const char* kProgramRole = "errand_invoices";

struct SetupOptions {
  /// PostgreSQL: the role that the program is to work as; made if there is none.
  std::string role = kProgramRole;
  /// PostgreSQL: its password; nullopt leaves it as it is.
  std::optional<std::string> role_password{};
};

struct SetupReport {
  bool created = false;              ///< the tables are new
  std::vector<std::string> notes{};  ///< what the owner should know
};

/// Makes Errand's tables and those of this program, and on PostgreSQL the program's role. Safe to
/// repeat. On PostgreSQL the DSN is the owner's, or a superuser's. Throws StorageException,
/// ConfigurationException.
SetupReport set_up(const Dsn& dsn, const SetupOptions& options = {});

/// The statements for an empty database, for a person to review.
[[nodiscard]] std::string setup_script(const Dsn& dsn);

}  // namespace errand::invoices
