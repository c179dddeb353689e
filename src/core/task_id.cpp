#include "errand/task_id.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <pthread.h>
#include <sys/random.h>
#include <system_error>

#include "errand/errors.hpp"

#include "core/utf8.hpp"

namespace errand {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

/// Raised in the child of a fork: what the parent has buffered must not be used twice.
std::atomic<unsigned> fork_generation{0};

void watch_forks() {
  static const int failed = pthread_atfork(nullptr, nullptr, [] { ++fork_generation; });
  if (failed != 0) throw std::system_error{failed, std::generic_category(), "pthread_atfork"};
}

/// Random bytes for many ids at a time, as the system call costs more than all the rest.
class RandomBuffer {
 public:
  Bytes take() {
    const unsigned generation = fork_generation.load(std::memory_order_relaxed);
    if (used_ == buffer_.size() || generation_ != generation) refill(generation);
    Bytes bytes;
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(used_), bytes.size(), bytes.begin());
    used_ += bytes.size();
    return bytes;
  }

 private:
  void refill(unsigned generation) {
    watch_forks();
    std::size_t filled = 0;
    while (filled < buffer_.size()) {
      const ssize_t got = ::getrandom(buffer_.data() + filled, buffer_.size() - filled, 0);
      if (got >= 0) {
        filled += static_cast<std::size_t>(got);
      } else if (errno != EINTR) {
        throw std::system_error{errno, std::generic_category(), "getrandom"};
      }
    }
    used_ = 0;
    generation_ = generation;
  }

  std::array<std::uint8_t, 64 * sizeof(Bytes)> buffer_;
  std::size_t used_ = buffer_.size();
  unsigned generation_ = 0;
};

/// Where byte `i` stands in the text: hyphens precede bytes 4, 6, 8 and 10.
constexpr std::array<std::size_t, 16> kOffsets{0,  2,  4,  6,  9,  11, 14, 16,
                                               19, 21, 24, 26, 28, 30, 32, 34};
constexpr std::size_t kTextLength = 36;

constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Of the time in microseconds; comes round after nine years.
constexpr unsigned kTimeBytes = 6;

void begin_with_time(Bytes& bytes) {
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  auto time = static_cast<std::uint64_t>(now.time_since_epoch().count());
  for (unsigned i = kTimeBytes; i-- > 0; time >>= 8U) bytes[i] = static_cast<std::uint8_t>(time);
}

constexpr bool is_version_4(const Bytes& bytes) noexcept {
  return (bytes[6] & 0xF0U) == 0x40U && (bytes[8] & 0xC0U) == 0x80U;
}

}  // namespace

TaskId TaskId::generate() {
  thread_local RandomBuffer random;
  Bytes bytes = random.take();
  begin_with_time(bytes);
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | 0x40U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
  return TaskId{bytes};
}

std::optional<TaskId> TaskId::parse(std::string_view text) noexcept {
  if (text.size() != kTextLength) return std::nullopt;
  for (const std::size_t hyphen : {8U, 13U, 18U, 23U}) {
    if (text[hyphen] != '-') return std::nullopt;
  }
  Bytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_value(text[kOffsets[i]]);
    const int low = hex_value(text[kOffsets[i] + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return from_bytes(bytes);
}

std::optional<TaskId> TaskId::from_bytes(const Bytes& bytes) noexcept {
  if (!is_version_4(bytes)) return std::nullopt;
  return TaskId{bytes};
}

TaskId TaskId::from_string(std::string_view text) {
  if (const std::optional<TaskId> id = parse(text)) return *id;
  constexpr std::size_t kShown = 64;
  throw ValidationException{"\"" + detail::repair_and_cut_utf8(text, kShown) +
                            "\" is not a task id: expected a UUID version 4 such as "
                            "550e8400-e29b-41d4-a716-446655440000"};
}

std::string TaskId::to_string() const {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(kTextLength, '-');
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    text[kOffsets[i]] = kDigits[bytes_[i] >> 4U];
    text[kOffsets[i] + 1] = kDigits[bytes_[i] & 0xFU];
  }
  return text;
}

}  // namespace errand
