#pragma once

#include <cstddef>
#include <cstdint>
#include <hiredis/hiredis.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "errand/task_id.hpp"

namespace errand::redis {

/// A part of a reply; valid as long as the whole. What is not there, or of another kind, reads as
/// nothing: 0, an empty text, no elements.
class Value {
 public:
  explicit Value(const redisReply* reply) : reply_{reply} {}

  [[nodiscard]] bool is_nil() const noexcept {
    return reply_ == nullptr || reply_->type == REDIS_REPLY_NIL;
  }
  [[nodiscard]] bool is_integer() const noexcept {
    return reply_ != nullptr && reply_->type == REDIS_REPLY_INTEGER;
  }
  [[nodiscard]] bool is_error() const noexcept {
    return reply_ != nullptr && reply_->type == REDIS_REPLY_ERROR;
  }
  [[nodiscard]] std::string_view text() const noexcept {
    if (reply_ == nullptr || reply_->str == nullptr) return {};
    return {reply_->str, static_cast<std::size_t>(reply_->len)};
  }
  [[nodiscard]] std::optional<std::string> optional_text() const {
    if (is_nil()) return std::nullopt;
    return std::string{text()};
  }
  /// Of a number, or of its text.
  [[nodiscard]] std::int64_t integer() const noexcept;
  [[nodiscard]] int small_integer() const noexcept { return static_cast<int>(integer()); }
  /// Throws StorageException if it is none.
  [[nodiscard]] TaskId task_id() const;

  [[nodiscard]] std::size_t size() const noexcept {
    return reply_ != nullptr && reply_->type == REDIS_REPLY_ARRAY ? reply_->elements : 0;
  }
  [[nodiscard]] Value operator[](std::size_t i) const noexcept {
    return Value{i < size() ? reply_->element[i] : nullptr};
  }

 private:
  const redisReply* reply_;
};

/// What the server answered to one command.
class Reply {
 public:
  explicit Reply(redisReply* reply) : reply_{reply} {}
  [[nodiscard]] Value value() const noexcept { return Value{reply_.get()}; }

 private:
  struct Free {
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> reply_;
};

}  // namespace errand::redis
