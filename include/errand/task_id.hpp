#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "errand/export.hpp"

namespace errand {

/// Names a task, in the form of a UUID version 4 (RFC 4122). A plain value; only generate() fails.
class ERRAND_EXPORT TaskId {
 public:
  /// A new id: 74 bits from the kernel's cryptographic generator, behind 48 bits of the time, which
  /// keep those of one time together in the indexes of databases. Throws std::system_error if the
  /// generator fails.
  [[nodiscard]] static TaskId generate();

  /// Exactly 36 characters, hyphens in place, version 4, RFC variant; upper-case digits are read.
  /// nullopt for anything else.
  [[nodiscard]] static std::optional<TaskId> parse(std::string_view text) noexcept;

  /// nullopt unless they are of version 4 and the RFC variant.
  [[nodiscard]] static std::optional<TaskId> from_bytes(
      const std::array<std::uint8_t, 16>& bytes) noexcept;

  /// As parse(); throws ValidationException naming the text and the right form.
  [[nodiscard]] static TaskId from_string(std::string_view text);

  /// 36 characters, lower case.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }

  // By the order of the bytes. Not defaulted: that would be a call of memcmp() for each.
  friend bool operator==(const TaskId& a, const TaskId& b) noexcept {
    return a.word(0) == b.word(0) && a.word(8) == b.word(8);
  }
  friend std::strong_ordering operator<=>(const TaskId& a, const TaskId& b) noexcept {
    const std::strong_ordering order = a.word(0) <=> b.word(0);
    return std::is_eq(order) ? a.word(8) <=> b.word(8) : order;
  }

 private:
  friend struct std::hash<TaskId>;

  explicit TaskId(const std::array<std::uint8_t, 16>& bytes) noexcept : bytes_{bytes} {}

  /// Eight bytes as a number that is greater where they come later.
  [[nodiscard]] std::uint64_t word(std::size_t first) const noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes_.data() + first, sizeof bits);
    return std::endian::native == std::endian::little ? __builtin_bswap64(bits) : bits;
  }

  std::array<std::uint8_t, 16> bytes_;
};

}  // namespace errand

template <>
struct std::hash<errand::TaskId> {
  /// 62 of the last bits are random already: as good a hash as any.
  std::size_t operator()(const errand::TaskId& id) const noexcept { return id.word(8); }
};
