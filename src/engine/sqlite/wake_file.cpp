#include "engine/sqlite/wake_file.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errand/errors.hpp"

namespace errand::sqlite {
namespace {

constexpr off_t kBytes = 4096;

/// Longer than any transaction that is not in trouble.
constexpr std::chrono::milliseconds kLongestTurn{100};

// Not FUTEX_PRIVATE: the others are in other processes.
void futex_wake(std::atomic<std::uint32_t>* word, int waiters) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE, waiters, nullptr, nullptr, 0);
}

void futex_wait(const std::atomic<std::uint32_t>* word, std::uint32_t seen,
                std::chrono::milliseconds timeout) noexcept {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(timeout.count() / 1000);
  limit.tv_nsec = static_cast<long>(timeout.count() % 1000) * 1'000'000;
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

/// A new one gets the owner and the mode of the database, as SQLite does with its own files: else
/// a command run by root would lock the service's user out.
int open_or_create(const std::string& path, const std::string& database) {
  const int created = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (created < 0) return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  struct stat like {};
  if (stat(database.c_str(), &like) == 0) {
    // Whoever is not root owns it already, or could not change that: nothing to be done then.
    static_cast<void>(fchmod(created, like.st_mode & 0666) == 0 && geteuid() == 0 &&
                      fchown(created, like.st_uid, like.st_gid) == 0);
  }
  return created;
}

}  // namespace

WakeFile::WakeFile(const std::string& path, const std::string& database) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(Page) <= kBytes);
  descriptor_ = open_or_create(path, database);
  const auto fail = [&](const char* doing) {
    const std::string reason = std::strerror(errno);
    if (descriptor_ >= 0) close(descriptor_);
    throw StorageException{std::string{doing} + " " + path + ": " + reason +
                               "; the directory must be writable for this user, and not full",
                           StorageException::Retry::useless};
  };
  if (descriptor_ < 0) fail("cannot open");
  // Room on the disk now, not at the first write to the page, which would be a SIGBUS; and growing
  // only: a file that others have mapped must never shrink under them.
  if (const int code = posix_fallocate(descriptor_, 0, kBytes); code != 0) {
    errno = code;
    fail("cannot make room for");
  }
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) fail("cannot map");
  // All-zero bytes, which a new file holds, are counters at zero.
  page_ = static_cast<Page*>(memory);
}

WakeFile::~WakeFile() {
  munmap(page_, kBytes);
  close(descriptor_);
}

void WakeFile::raise(Signal signal) noexcept {
  page_->counters[static_cast<std::size_t>(signal)].fetch_add(1);
  nudge();
}

void WakeFile::nudge() noexcept {
  page_->sequence.fetch_add(1);
  futex_wake(&page_->sequence, INT_MAX);
}

std::uint32_t WakeFile::sequence() const noexcept { return page_->sequence.load(); }

WakeFile::Counters WakeFile::counters() const noexcept {
  Counters counters;
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] = page_->counters[i].load();
  return counters;
}

void WakeFile::wait(std::uint32_t seen, std::chrono::milliseconds timeout) const noexcept {
  futex_wait(&page_->sequence, seen, timeout);
}

WakeFile::WriteTurn::WriteTurn(WakeFile& file) noexcept
    : holder_{file.page_->writer}, self_{static_cast<std::uint32_t>(getpid())} {
  const auto deadline = std::chrono::steady_clock::now() + kLongestTurn;
  while (true) {
    std::uint32_t holder = 0;
    if (holder_.compare_exchange_strong(holder, self_)) return;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    futex_wait(&holder_, holder, left);
  }
  holder_.store(self_);
}

WakeFile::WriteTurn::~WriteTurn() {
  std::uint32_t holder = self_;
  if (holder_.compare_exchange_strong(holder, 0)) futex_wake(&holder_, 1);
}

}  // namespace errand::sqlite
