#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "errand/dsn.hpp"
#include "errand/logger.hpp"
#include "errand/transport.hpp"

#include "distributor_upgrade/store/database.hpp"
#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::distributors {

using terminal::ExitCode;

/// What messages begin with.
inline constexpr const char* kProgram = "errand-distributors";

/// One call of the program: its streams, and what its commands have in common.
struct Invocation {
  terminal::Console& console;
  std::string dsn_option{};
  std::string message_class_option{};
  bool json = false;

  /// The command that was named, with its options; empty until the command line is parsed.
  std::function<ExitCode()> command{};

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

  /// The id of what a command has added: alone on a line, or as {"id":7}.
  void print_id(std::int64_t id) const;
};

}  // namespace errand::distributors
