#include "app/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "core/block_signals.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): glibc declares it for GNU only

namespace errand::detail {
namespace {

using Steady = std::chrono::steady_clock;

/// A file descriptor with an owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_{value} {}
  Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] bool open() const noexcept { return value_ >= 0; }
  void close() noexcept {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_ = -1;
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
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot make a pipe for the command");
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

void make_nonblocking(const Descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

/// The environment block of the child, made before fork(): after it, only calls that are safe in a
/// signal handler are allowed.
class EnvironmentBlock {
 public:
  explicit EnvironmentBlock(const std::vector<std::pair<std::string, std::string>>& added) {
    for (const auto& [name, value] : added) texts_.emplace_back(name).append("=").append(value);
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text{*entry};
      const bool replaced = std::any_of(added.begin(), added.end(), [&](const auto& variable) {
        return text.starts_with(variable.first + "=");
      });
      if (!replaced) pointers_.push_back(*entry);
    }
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }

  [[nodiscard]] char** get() noexcept { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

[[noreturn]] void become_command(const char* command, char** environment, int in, int out, int err,
                                 pid_t parent) {
  // A session of its own, and so a process group, and no terminal: in the background of the
  // worker's, a command that asks there for a password would be stopped, and never end.
  setsid();
  // The command must not outlive a worker that was killed: its task will be run again.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  // In this order: what was sent to it already ends it, and is not taken for a signal to the
  // worker, whose handlers a child has until then.
  for (const int number : {SIGPIPE, SIGTERM, SIGINT}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
  std::array<const char*, 4> arguments{"sh", "-c", command, nullptr};
  execve("/bin/sh", const_cast<char* const*>(arguments.data()), environment);
  _exit(127);
}

enum class Read { some, nothing_yet, closed };

/// Once, so that whoever writes faster than this reads does not keep it from looking at the time.
Read read_some(const Descriptor& from, std::string& into) {
  std::array<char, 65536> chunk;
  while (true) {
    const ssize_t count = read(from.get(), chunk.data(), chunk.size());
    if (count > 0) {
      into.append(chunk.data(), static_cast<std::size_t>(count));
      return Read::some;
    }
    if (count == 0) return Read::closed;
    if (errno != EINTR) return errno == EAGAIN ? Read::nothing_yet : Read::closed;
  }
}

/// Between SIGTERM and SIGKILL. Shorter than what a worker gives its handlers to stop in.
constexpr std::chrono::milliseconds kTimeToCleanUp{500};

/// The most that a pipe can hold, unless the administrator allows more.
constexpr std::size_t kMostInPipe = std::size_t{1} << 20;

/// What the command left in the pipe, and no more: a process that escaped from its group may go on
/// writing.
void read_rest(const Descriptor& from, std::string& into) {
  const std::size_t enough = into.size() + kMostInPipe;
  while (into.size() < enough && read_some(from, into) == Read::some) {
  }
}

/// Writes what fits. False: all is written, or the command does not want the rest.
bool write_some(const Descriptor& to, std::string_view& text) {
  while (!text.empty()) {
    const ssize_t count = write(to.get(), text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return false;
}

/// The command's process group, led by the command itself. It does not outlive this object.
class Group {
 public:
  explicit Group(pid_t leader) : leader_{leader} {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    if (!ended_) end();
  }

  /// A chance to clean up.
  void ask_to_end() const { send(SIGTERM); }

  /// Kills what there is of the group and returns the status of its leader. In this order: while
  /// the leader is not waited for, its number cannot become another group's.
  int end() {
    ended_ = true;
    send(SIGKILL);
    int status = 0;
    while (waitpid(leader_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  /// Before the command has made its group, it has no children either.
  void send(int signal) const {
    if (kill(-leader_, signal) != 0) kill(leader_, signal);
  }

  const pid_t leader_;
  bool ended_ = false;
};

int poll_timeout(const std::optional<Steady::time_point>& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Steady::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

}  // namespace

ChildResult run_child(const ChildOptions& options, std::string_view input,
                      const std::stop_token& stop) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  const Descriptor stop_event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!stop_event.open()) fail("cannot watch for a stop");
  EnvironmentBlock environment{options.environment};

  const pid_t self = getpid();
  const pid_t child = [&] {
    const BlockSignals inherited;
    const pid_t id = fork();
    if (id == 0) {
      become_command(options.command.c_str(), environment.get(), in.read.get(), out.write.get(),
                     err.write.get(), self);
    }
    return id;
  }();
  if (child < 0) fail("cannot start the command");
  Group group{child};
  in.read.close();
  out.write.close();
  err.write.close();
  for (const Descriptor* descriptor : {&in.write, &out.read, &err.read}) {
    make_nonblocking(*descriptor);
  }
  const std::stop_callback on_stop{stop, [&] { eventfd_write(stop_event.get(), 1); }};
  const Descriptor exit_event{static_cast<int>(syscall(SYS_pidfd_open, child, 0))};
  if (!exit_event.open()) fail("cannot watch the command");

  ChildResult result;
  std::optional<ChildResult::End> ended_early;
  std::optional<Steady::time_point> deadline;
  if (options.timeout.count() > 0) deadline = Steady::now() + options.timeout;
  bool running = true;
  while (running) {
    std::array<pollfd, 5> events{{{in.write.get(), POLLOUT, 0},
                                  {out.read.get(), POLLIN, 0},
                                  {err.read.get(), POLLIN, 0},
                                  {exit_event.get(), POLLIN, 0},
                                  {ended_early ? -1 : stop_event.get(), POLLIN, 0}}};
    if (poll(events.data(), events.size(), poll_timeout(deadline)) < 0 && errno != EINTR) break;
    if (in.write.open() && !write_some(in.write, input)) in.write.close();
    if (out.read.open() && read_some(out.read, result.output) == Read::closed) out.read.close();
    if (err.read.open() && read_some(err.read, result.errors) == Read::closed) err.read.close();
    if (result.errors.size() > 2 * options.max_errors) {
      result.errors.erase(0, result.errors.size() - options.max_errors);
    }
    // Background children of the command may hold the pipes open: its own end is what counts.
    if ((events[3].revents & POLLIN) != 0) running = false;
    if (!running) break;
    if (result.output.size() > options.max_output) {
      ended_early = ChildResult::End::output_too_large;
      break;
    }
    const bool late = deadline && Steady::now() >= *deadline;
    if (ended_early) {
      if (late) break;
    } else if (late || stop.stop_requested()) {
      ended_early = late ? ChildResult::End::timed_out : ChildResult::End::stopped;
      group.ask_to_end();
      deadline = Steady::now() + kTimeToCleanUp;
    }
  }
  const int status = group.end();
  if (out.read.open()) read_rest(out.read, result.output);
  if (err.read.open()) read_rest(err.read, result.errors);
  if (result.errors.size() > options.max_errors) {
    result.errors.erase(0, result.errors.size() - options.max_errors);
  }
  if (ended_early) {
    result.end = *ended_early;
  } else if (WIFSIGNALED(status)) {
    result.end = ChildResult::End::signalled;
    result.code = WTERMSIG(status);
  } else {
    result.code = WEXITSTATUS(status);
    if (result.output.size() > options.max_output) {
      result.end = ChildResult::End::output_too_large;
    }
  }
  return result;
}

}  // namespace errand::detail
