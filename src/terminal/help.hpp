#pragma once

#include "terminal/cli11_fwd.hpp"
#include "terminal/screen.hpp"

namespace errand::terminal {

/// Lets `--help` of `root` and of the commands that are added to it later come in our layout:
/// purpose, usage, options by group, examples.
void lay_out_help(CLI::App& root, const Screen& screen);

}  // namespace errand::terminal
