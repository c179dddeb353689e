#include "bench/idle_worker.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration): glibc declares it for GNU only

namespace errand::bench {

IdleWorker::IdleWorker(const Dsn& dsn, const std::string& queue) {
  std::string variable = "ERRAND_DSN=" + dsn.secret_text();
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view{*entry}.starts_with("ERRAND_DSN=")) environment.push_back(*entry);
  }
  environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::array<const char*, 9> arguments{"errand",      "worker",      "--queue",
                                       queue.c_str(), "--log-level", "warning",
                                       "--grace",     "1s",          nullptr};
  // A group of its own: Ctrl-C is for whoever measures, who ends it then.
  posix_spawnattr_t group;
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&child_, "/proc/self/exe", nullptr, &group,
                                const_cast<char* const*>(arguments.data()), environment.data());
  posix_spawnattr_destroy(&group);
  if (error != 0) {
    throw std::system_error{error, std::generic_category(), "cannot start a worker"};
  }
}

IdleWorker::~IdleWorker() {
  kill(child_, SIGTERM);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace errand::bench
