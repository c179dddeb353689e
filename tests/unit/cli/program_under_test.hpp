#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace errand::cli {

using terminal::Console;
using terminal::ExitCode;

/// What a call of the program left behind.
struct Ended {
  ExitCode code;
  std::string out;
  std::string err;
};

inline Ended run_program(std::vector<std::string> arguments, const std::string& input = {}) {
  std::istringstream in{input};
  std::ostringstream out;
  std::ostringstream err;
  Console console{.in = in,
                  .out = out,
                  .err = err,
                  .in_is_terminal = false,
                  .out_screen = {},
                  .err_screen = {}};
  const ExitCode code = run(std::move(arguments), console);
  return {code, out.str(), err.str()};
}

}  // namespace errand::cli
