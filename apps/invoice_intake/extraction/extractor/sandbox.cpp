#include "invoice_intake/extraction/extractor/sandbox.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <linux/landlock.h>
#include <memory>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace errand::invoices {
namespace {

[[noreturn]] void fail(int error, const char* doing) {
  throw std::system_error{error, std::generic_category(), doing};
}

void limit(__rlimit_resource resource, std::int64_t value, const char* doing) {
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  if (setrlimit(resource, &both) != 0) fail(errno, doing);
}

void set_limits(const SandboxLimits& limits) {
  limit(RLIMIT_CPU, limits.cpu_seconds, "cannot limit processor time");
  // Only standard output can be a file that is open for writing.
  limit(RLIMIT_FSIZE, std::int64_t{64} << 20, "cannot limit the size of files");
  limit(RLIMIT_NOFILE, 64, "cannot limit open files");
  limit(RLIMIT_CORE, 0, "cannot forbid core files");
  // The sanitizers reserve terabytes of address space for themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  limit(RLIMIT_AS, limits.memory, "cannot limit memory");
#endif
}

/// The second wall: only the files of installed packages can be opened. Kernels without Landlock
/// (before 5.13, or switched off) have the first wall, seccomp, alone; --probe tells. Where there
/// is Landlock, what it refuses to do ends the program.
void confine_files() {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                                 LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
  const auto rules =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (rules < 0 && (errno == ENOSYS || errno == EOPNOTSUPP)) return;
  if (rules < 0) fail(errno, "cannot confine files");
  const auto allow = [&](const char* path) {
    const int folder = open(path, O_PATH | O_CLOEXEC);
    if (folder < 0) return;  // a system without that folder
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    beneath.parent_fd = folder;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) {
      fail(errno, "cannot confine files");
    }
    close(folder);
  };
  for (const char* path : {"/usr", "/lib", "/lib64", "/etc/fonts", "/var/cache/fontconfig"}) {
    allow(path);
  }
  if (const char* tessdata = std::getenv("TESSDATA_PREFIX")) allow(tessdata);
  if (syscall(SYS_landlock_restrict_self, rules, 0) != 0) fail(errno, "cannot confine files");
  close(rules);
}

struct FilterRelease {
  void operator()(void* filter) const noexcept { seccomp_release(filter); }
};

/// An allow list: what is not on it fails with EPERM, also system calls that do not exist yet.
void filter_system_calls() {
  const std::unique_ptr<void, FilterRelease> filter{seccomp_init(SCMP_ACT_ERRNO(EPERM))};
  if (!filter) fail(ENOMEM, "cannot make a system call filter");
  const auto check = [](int result) {
    if (result < 0) fail(-result, "cannot make a system call filter");
  };
  constexpr std::array kAllowed{
      // memory
      SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect),
      SCMP_SYS(madvise),
      // descriptors that are open, and reading files
      SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
      SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(stat),
      SCMP_SYS(lstat), SCMP_SYS(statx), SCMP_SYS(fstatfs), SCMP_SYS(statfs), SCMP_SYS(access),
      SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(getdents64), SCMP_SYS(readlink),
      SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(fcntl), SCMP_SYS(dup), SCMP_SYS(fadvise64),
      // time, chance, locks, and who one is
      SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
      SCMP_SYS(times), SCMP_SYS(getrusage), SCMP_SYS(getrandom), SCMP_SYS(futex),
      SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(sysinfo), SCMP_SYS(uname),
      SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
      SCMP_SYS(getegid), SCMP_SYS(getppid), SCMP_SYS(getrlimit),
      // signals to itself, and the end
      SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
      SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};
  for (const int call : kAllowed) {
    check(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0));
  }
  // Opening is for reading.
  constexpr scmp_datum_t kWriting = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE;
  constexpr scmp_datum_t kReading = O_RDONLY;
  check(seccomp_rule_add(
      filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
      SCMP_A2(SCMP_CMP_MASKED_EQ, kWriting & ~scmp_datum_t{O_DIRECTORY}, kReading)));
  check(seccomp_rule_add(
      filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
      SCMP_A1(SCMP_CMP_MASKED_EQ, kWriting & ~scmp_datum_t{O_DIRECTORY}, kReading)));
  // abort() signals this process; limits can be read.
  const auto self = static_cast<scmp_datum_t>(getpid());
  check(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                         SCMP_A0(SCMP_CMP_EQ, self)));
  check(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1,
                         SCMP_A2(SCMP_CMP_EQ, 0)));
  // glibc asks whether standard output is a terminal.
  check(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                         SCMP_A1(SCMP_CMP_EQ, 0x5401)));
  check(seccomp_load(filter.get()));
}

}  // namespace

void enter_sandbox(const SandboxLimits& limits) {
  set_limits(limits);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(errno, "cannot give up privileges");
  if (prctl(PR_SET_DUMPABLE, 0) != 0) fail(errno, "cannot forbid tracing");
  confine_files();
  filter_system_calls();
}

std::vector<Probe> probe_sandbox() {
  std::vector<Probe> probes;
  const auto tried = [&](const char* what, bool refused) { probes.push_back({what, refused}); };
  tried("socket", socket(AF_INET, SOCK_STREAM, 0) < 0);
  tried("unix socket", socket(AF_UNIX, SOCK_STREAM, 0) < 0);
  // exit() of a child that should not exist must not run this process's clean-up.
  const pid_t child = static_cast<pid_t>(syscall(SYS_fork));
  if (child == 0) _exit(0);
  tried("fork", child < 0);
  tried("ptrace", ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) < 0);
  tried("kill", kill(getppid(), 0) < 0);
  tried("create a file", open("/tmp/errand-sandbox-probe", O_CREAT | O_WRONLY, 0600) < 0);
  tried("read /etc/passwd", open("/etc/passwd", O_RDONLY) < 0);
  tried("write a file", open("/dev/null", O_WRONLY) < 0);
  tried("raise a limit", [] {
    const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_CPU, &more) != 0;
  }());
  std::array<char*, 2> arguments{const_cast<char*>("true"), nullptr};
  tried("exec", execv("/bin/true", arguments.data()) < 0);
  return probes;
}

}  // namespace errand::invoices
