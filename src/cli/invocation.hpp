#pragma once

#include <functional>
#include <memory>
#include <string>

#include "errand/dsn.hpp"
#include "errand/engine.hpp"

#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::cli {

using terminal::Console;
using terminal::ExitCode;

/// One call of the program: its streams, and what all commands take from the command line.
struct Invocation {
  Console& console;
  std::string dsn_option;

  /// The command that was named, with its options; empty until the command line is parsed.
  std::function<ExitCode()> command;

  /// Throws ConfigurationException.
  [[nodiscard]] Dsn dsn() const { return Dsn::from_environment(dsn_option); }

  /// Throws as open_engine().
  [[nodiscard]] std::unique_ptr<Engine> open(EngineOptions::Open how) const {
    EngineOptions options;
    options.open = how;
    return open_engine(dsn(), options);
  }
};

}  // namespace errand::cli
