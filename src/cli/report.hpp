#pragma once

#include <exception>

#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::cli {

/// Says on `console.err` what went wrong, in a sentence that begins with `errand: `, and returns
/// the code that goes with it.
[[nodiscard]] terminal::ExitCode report(const std::exception_ptr& error,
                                        terminal::Console& console);

}  // namespace errand::cli
