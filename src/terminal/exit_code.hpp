#pragma once

namespace errand::terminal {

/// What a program tells its caller. Scripts depend on these numbers: add, never change.
enum class ExitCode : int {
  done = 0,
  failed = 1,     ///< the task failed; of other commands: they looked and found trouble
  usage = 2,      ///< usage, configuration, DSN, or data that is not valid
  cancelled = 3,  ///< the task was; of other commands: a signal stopped them before the end
  timed_out = 4,
  not_found = 5,  ///< what was named is unknown, or expired
  storage_unreachable = 6,
  internal_error = 70,  ///< EX_SOFTWARE of sysexits.h: a mistake in the program
  output_failed = 74,   ///< EX_IOERR: standard output did not take what was written
  output_closed = 141,  ///< as if SIGPIPE had ended it: whoever read has gone
};

}  // namespace errand::terminal
