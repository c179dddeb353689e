#pragma once

#include <exception>

#include "cli/console.hpp"

namespace errand::cli {

/// What the program tells its caller. Scripts depend on these numbers: add, never change.
enum class ExitCode : int {
  done = 0,
  failed = 1,  ///< the task failed; of other commands: they looked and found trouble
  usage = 2,   ///< usage, configuration, DSN, or data that is not valid
  cancelled = 3,
  timed_out = 4,
  no_such_task = 5,  ///< unknown or expired
  storage_unreachable = 6,
  internal_error = 70,  ///< EX_SOFTWARE of sysexits.h: a mistake in Errand
  output_failed = 74,   ///< EX_IOERR: standard output did not take what was written
  output_closed = 141,  ///< as if SIGPIPE had ended it: whoever read has gone
};

/// Says on `console.err` what went wrong, in a sentence that begins with `errand: `, and returns
/// the code that goes with it.
[[nodiscard]] ExitCode report(const std::exception_ptr& error, Console& console);

}  // namespace errand::cli
