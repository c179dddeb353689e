#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "errand/application.hpp"
#include "errand/dsn.hpp"
#include "errand/engine.hpp"

#include "cli/console.hpp"
#include "cli/exit_code.hpp"

namespace errand::cli {

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
    return open_engine(dsn(), EngineOptions{.open = how});
  }
};

/// When `app` was named on the command line, the program runs `command` with the options that were
/// bound to `*options`.
template <class Options>
void runs(CLI::App& app, Invocation& invocation, const std::shared_ptr<Options>& options,
          ExitCode (*command)(const Options&, Invocation&)) {
  app.callback([&invocation, options, command] {
    invocation.command = [&invocation, options, command] { return command(*options, invocation); };
  });
}

}  // namespace errand::cli
