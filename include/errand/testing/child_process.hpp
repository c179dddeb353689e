#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sys/types.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace errand::testing {

/// One end waits for the other, across a fork.
class Gate {
 public:
  Gate() {
    if (::pipe(ends_) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  }
  ~Gate() {
    open();
    ::close(ends_[0]);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Everybody who held the gate shut must have opened it, or ended, before wait() returns; a fork
  /// makes one more of them.
  void open() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  void wait() const {
    char byte = 0;
    while (::read(ends_[0], &byte, 1) < 0 && errno == EINTR) {
    }
  }

 private:
  int ends_[2] = {-1, -1};
};

/// A forked process. It exits 0 when its body returns, 1 when it throws.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void()>& body) : pid_{::fork()} {
    if (pid_ < 0) throw std::system_error{errno, std::generic_category(), "fork"};
    if (pid_ == 0) run_and_exit(body);
  }
  ~ChildProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  ChildProcess(ChildProcess&& other) noexcept : pid_{std::exchange(other.pid_, -1)} {}
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// What waitpid() says.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  /// Leaves without running what the parent will run: its destructors and GoogleTest's report.
  [[noreturn]] static void run_and_exit(const std::function<void()>& body) {
    try {
      body();
      ::_exit(EXIT_SUCCESS);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child %d: %s\n", static_cast<int>(::getpid()), error.what());
    } catch (...) {
      std::fprintf(stderr, "child %d: an exception of unknown type\n",
                   static_cast<int>(::getpid()));
    }
    ::_exit(EXIT_FAILURE);
  }

  pid_t pid_;
};

}  // namespace errand::testing
