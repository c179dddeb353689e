#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "errand/dsn.hpp"
#include "errand/logger.hpp"
#include "errand/transport.hpp"

#include "distributor_upgrade/commands/screen_text.hpp"
#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

/// What the program tells its caller; the same numbers as `errand`'s. Scripts depend on them: add,
/// never change.
enum class ExitCode : int {
  done = 0,
  failed = 1,   ///< the state of the data does not allow it, or criteria cannot be worked out
  usage = 2,    ///< usage, configuration, DSN, or data that is not valid
  stopped = 3,  ///< by a signal, before everybody was checked
  not_found = 5,
  storage_unreachable = 6,
  internal_error = 70,  ///< a mistake in this program
  output_failed = 74,   ///< standard output did not take what was written
};

/// One call of the program: its streams, and what its commands have in common.
struct Invocation {
  std::ostream& out;
  std::ostream& err;
  Screen out_screen{};
  Screen err_screen{};
  std::string dsn_option{};
  std::string message_class_option{};
  bool json = false;

  /// Of --dsn, else of the environment. Throws ConfigurationException.
  [[nodiscard]] Dsn dsn() const;

  /// The database, with its tables. Throws as open_database() and require_tables().
  [[nodiscard]] std::unique_ptr<Database> database() const;

  /// Where checks wait, and where those end that failed.
  [[nodiscard]] std::unique_ptr<Transport> checks(Logger& logger = silent_logger()) const;
  [[nodiscard]] std::unique_ptr<Transport> failures(Logger& logger = silent_logger()) const;

  /// What checks are called on the wire: --message-class, else
  /// $ERRAND_DISTRIBUTORS_MESSAGE_CLASS, else kCheckClass.
  [[nodiscard]] std::string message_class() const;

  void print_json(std::string_view text) const;

  /// The id of what a command has added: alone on a line, or as {"id":7}.
  void print_id(std::int64_t id) const;
};

}  // namespace errand::distributors
