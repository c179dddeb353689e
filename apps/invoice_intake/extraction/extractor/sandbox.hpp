#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace errand::invoices {

struct SandboxLimits {
  std::int64_t cpu_seconds = 0;
  std::int64_t memory = 0;  ///< address space, bytes
};

/// Gives up, for good, what reading documents does not need. From here on this process can read
/// the files of installed packages, compute, and write to the descriptors it has; no sockets, no
/// other programs, processes or threads, no new or changed files, no signals to others. Whatever a
/// document makes a parser do, it does it in here.
/// Throws std::system_error if the system cannot enforce that.
void enter_sandbox(const SandboxLimits& limits);

/// What happens to a thing that the sandbox forbids, when tried.
struct Probe {
  std::string what;
  bool refused = false;
};

/// Tries forbidden things, inside the sandbox.
[[nodiscard]] std::vector<Probe> probe_sandbox();

}  // namespace errand::invoices
