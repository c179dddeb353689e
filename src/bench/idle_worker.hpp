#pragma once

#include <string>
#include <sys/types.h>

#include "errand/dsn.hpp"

namespace errand::bench {

/// A worker in a process of its own, from construction to destruction: this program, called again
/// as `worker`.
class IdleWorker {
 public:
  /// The DSN goes by the environment: command lines are for everybody to read.
  IdleWorker(const Dsn& dsn, const std::string& queue);
  ~IdleWorker();
  IdleWorker(const IdleWorker&) = delete;
  IdleWorker& operator=(const IdleWorker&) = delete;

 private:
  pid_t child_;
};

}  // namespace errand::bench
