#include "invoice_intake/extraction/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace errand::invoices {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMaxErrors = 2000;

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_{value} {}
  Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return value_; }
  void close() noexcept {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

[[noreturn]] void fail(const char* doing) {
  throw std::system_error{errno, std::generic_category(), doing};
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot make a pipe for the extractor");
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// Made before fork(): after it, only calls that are safe in a signal handler are allowed.
std::vector<std::string> child_environment() {
  std::vector<std::string> environment{"LC_ALL=C.UTF-8", "OMP_THREAD_LIMIT=1"};
  for (const char* name : {"TESSDATA_PREFIX", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(std::string{name} + "=" + value);
    }
  }
  return environment;
}

[[noreturn]] void become_extractor(const char* program, char* const* arguments,
                                   char* const* environment, int in, int out, int err,
                                   pid_t parent) {
  // It must not outlive a worker that was killed: its task will be run again.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  // In this order: a signal that has come already is not for the worker's handlers.
  for (const int number : {SIGPIPE, SIGTERM, SIGINT}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
  execve(program, arguments, environment);
  _exit(127);
}

/// The child process; it does not outlive this object.
class Child {
 public:
  explicit Child(pid_t id) : id_{id} {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!ended_) end();
  }

  int end() {
    ended_ = true;
    kill(id_, SIGKILL);
    return wait();
  }
  int wait() {
    ended_ = true;
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  const pid_t id_;
  bool ended_ = false;
};

/// Splits output into lines, holding at most one unfinished line.
class Lines {
 public:
  /// False: a line was refused.
  bool take(std::string_view chunk, const OnLine& on_line) {
    while (true) {
      const std::size_t end = chunk.find('\n');
      if (end == std::string_view::npos) break;
      unfinished_ += chunk.substr(0, end);
      chunk.remove_prefix(end + 1);
      if (!on_line(unfinished_)) return false;
      unfinished_.clear();
    }
    unfinished_ += chunk;
    return true;
  }

 private:
  std::string unfinished_;
};

/// Characters that could play tricks on a log or terminal become "?".
std::string printable(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) {
      c = c == '\n' ? ' ' : '?';
    }
  }
  return text;
}

int poll_timeout(Steady::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

}  // namespace

ChildEnd run_extractor(const ChildSetup& setup, const OnLine& on_line, const Deadline& deadline,
                       const std::stop_token& stop) {
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  const Descriptor stop_event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (stop_event.get() < 0) fail("cannot watch for a stop");
  std::vector<std::string> environment = child_environment();
  std::vector<char*> environment_block;
  for (std::string& entry : environment) environment_block.push_back(entry.data());
  environment_block.push_back(nullptr);
  std::string program = setup.program.string();
  std::string argument = setup.argument;
  const std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};

  const pid_t self = getpid();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t id = fork();
  if (id == 0) {
    become_extractor(program.c_str(), arguments.data(), environment_block.data(), setup.input,
                     out.write.get(), err.write.get(), self);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (id < 0) fail("cannot start the extractor");
  Child child{id};
  out.write.close();
  err.write.close();
  const std::stop_callback on_stop{stop, [&] { eventfd_write(stop_event.get(), 1); }};

  ChildEnd result;
  Lines lines;
  std::size_t output = 0;
  std::optional<ChildEnd::How> ended_early;
  std::array<char, 65536> chunk;
  bool out_open = true;
  bool err_open = true;
  while (out_open && !ended_early) {
    std::array<pollfd, 3> events{{{out.read.get(), POLLIN, 0},
                                  {err_open ? err.read.get() : -1, POLLIN, 0},
                                  {stop_event.get(), POLLIN, 0}}};
    if (poll(events.data(), events.size(), poll_timeout(deadline())) < 0 && errno != EINTR) {
      fail("cannot watch the extractor");
    }
    if (events[0].revents != 0) {
      const ssize_t count = read(out.read.get(), chunk.data(), chunk.size());
      if (count <= 0) {
        out_open = count < 0 && errno == EINTR;
      } else {
        output += static_cast<std::size_t>(count);
        if (output > setup.max_output) {
          ended_early = ChildEnd::How::output_too_large;
        } else if (!lines.take({chunk.data(), static_cast<std::size_t>(count)}, on_line)) {
          ended_early = ChildEnd::How::spoke_nonsense;
        }
      }
    }
    if (events[1].revents != 0) {
      const ssize_t count = read(err.read.get(), chunk.data(), chunk.size());
      if (count > 0) {
        result.errors.append(chunk.data(), static_cast<std::size_t>(count));
        if (result.errors.size() > kMaxErrors) {
          result.errors.erase(0, result.errors.size() - kMaxErrors);
        }
      } else {
        err_open = count < 0 && errno == EINTR;
      }
    }
    if (stop.stop_requested()) ended_early = ChildEnd::How::stopped;
    if (!ended_early && out_open && Steady::now() >= deadline()) {
      ended_early = ChildEnd::How::timed_out;
    }
  }
  // Whoever has closed its output has nothing left to do.
  const int status = ended_early ? child.end() : child.wait();
  result.errors = printable(std::move(result.errors));
  if (ended_early) {
    result.how = *ended_early;
  } else if (WIFSIGNALED(status)) {
    result.how = ChildEnd::How::signalled;
    result.code = WTERMSIG(status);
  } else {
    result.code = WEXITSTATUS(status);
  }
  return result;
}

}  // namespace errand::invoices
