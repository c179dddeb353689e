#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace errand::redis {

/// Texts one after the other, as the scripts' cmsgpack has them.
[[nodiscard]] std::string pack(std::initializer_list<std::string_view> texts);

/// A task's entry in the queue, `task:<id>:meta`, as the scripts pack it: MessagePack values one
/// after the other. Valid as long as the text it was made of.
class Entry {
 public:
  /// In the order of scripts/keys.lua.
  enum class Field : std::uint8_t {
    status,
    version,
    started_at,
    completed_at,
    vanish_at,
    attempts,
    crashes,
    failures,
    cancel_requested,
    progress,
    lease_expires_at,
    worker,
    result,
    error,
    seq,
    queue,
    priority,
    available_at,
    submitted_at,
    type,
    max_retries,
    retry_policy,
    headers,
    payload,
  };

  /// What is not there, or damaged, reads as nothing: 0, an empty text.
  explicit Entry(std::string_view packed) noexcept;

  [[nodiscard]] bool has(Field field) const noexcept { return at(field).data() != nullptr; }
  [[nodiscard]] std::string_view text(Field field) const noexcept { return at(field); }
  [[nodiscard]] std::optional<std::string> optional_text(Field field) const;
  [[nodiscard]] std::int64_t integer(Field field) const noexcept;
  [[nodiscard]] int small_integer(Field field) const noexcept {
    return static_cast<int>(integer(field));
  }

 private:
  static constexpr std::size_t kFields = static_cast<std::size_t>(Field::payload) + 1;

  [[nodiscard]] std::string_view at(Field field) const noexcept {
    return fields_[static_cast<std::size_t>(field)];
  }

  std::array<std::string_view, kFields> fields_;  ///< without data: none
};

}  // namespace errand::redis
