#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "errand/dsn.hpp"
#include "errand/engine.hpp"

#include "invoice_intake/store/database.hpp"
#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::invoices {

using terminal::Console;
using terminal::ExitCode;

/// One call of the program: its streams, and what its commands have in common.
struct Invocation {
  Console& console;
  std::string dsn_option{};
  std::string user_option{};
  std::string originals_option{};
  std::string extractor_option{};

  /// The command that was named, with its options; empty until the command line is parsed.
  std::function<ExitCode()> command{};

  /// Of --dsn, else of the environment. Throws ConfigurationException, also for a password in
  /// --dsn.
  [[nodiscard]] Dsn dsn() const;

  /// What becomes of a SQLite file that is not there.
  enum class Missing : std::uint8_t { is_an_error, create };

  /// The database. Who only looks makes none. Throws as open_database().
  [[nodiscard]] std::unique_ptr<Database> database(Missing missing = Missing::is_an_error) const;

  /// Where originals are: --originals, else $ERRAND_INVOICES_ORIGINALS, else for SQLite a directory
  /// beside the file. Throws ConfigurationException if PostgreSQL is used and nothing was said.
  [[nodiscard]] std::filesystem::path originals() const;

  /// --user, else $ERRAND_INVOICES_USER; nullopt if neither is there.
  [[nodiscard]] std::optional<Profile> chosen_user(Database& database) const;

  /// As chosen_user(); without a choice, the only user there is. Throws ConfigurationException if
  /// there are none or several.
  [[nodiscard]] Profile user(Database& database) const;
};

/// A secret from a file, without the line's end, or from the environment; empty if neither is
/// there. Throws ConfigurationException if the file cannot be read.
[[nodiscard]] std::string read_secret(const std::string& file, const char* variable);

}  // namespace errand::invoices
