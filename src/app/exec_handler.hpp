#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "errand/handler.hpp"

#include "bus/symfony_serializer.hpp"

namespace errand {

/// What a task fails with whose command did not exit with 0.
class CommandFailed : public Error {
 public:
  using Error::Error;
};

}  // namespace errand

namespace errand::detail {

/// A handler that is a command: `/bin/sh -c command`, in a process group of its own, gets the
/// payload on standard input and the task in ERRAND_TASK_ID, or the message without a record in
/// ERRAND_MESSAGE_ID (the other one is empty), ERRAND_TASK_TYPE and ERRAND_ATTEMPT, and in
/// TRACEPARENT the trace that the message belongs to, if it does.
/// Exit 0: its standard output, which must be JSON or empty (null), is the result; of a message,
/// which has none, it may be anything and is logged at level debug. Otherwise the task fails, with
/// its standard error as message. After `timeout` (0: none), or when asked to stop, the whole group
/// is killed.
[[nodiscard]] RawHandler exec_handler(std::string command, std::chrono::milliseconds timeout);

/// `--exec`'s TYPE=COMMAND. Throws ConfigurationException for other forms, and if the type has a
/// handler already.
void add_exec_handler(Handlers& handlers, const std::string& text,
                      std::chrono::milliseconds timeout);

/// All of them. A type that has another name on the wire is served by either.
void add_exec_handlers(Handlers& handlers, const std::vector<std::string>& texts,
                       std::chrono::milliseconds timeout, const SymfonySerializer& names);

}  // namespace errand::detail
