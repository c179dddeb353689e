#pragma once

#include <string>
#include <string_view>

#include "errand/task_id.hpp"

namespace errand::detail {

/// Which attempt a thread works on, while it does: what is logged meanwhile, by Errand or by the
/// handler, belongs to it. One at a time in a thread.
class LogScope {
 public:
  /// `message_id`: of a message without a record, else empty; so may `trace_id` be. The texts must
  /// outlive it.
  LogScope(TaskId task, std::string_view message_id, std::string_view type, int attempt,
           std::string_view trace_id)
      : task_{task}, message_id_{message_id}, type_{type}, attempt_{attempt}, trace_id_{trace_id} {
    current_ = this;
  }
  ~LogScope() { current_ = nullptr; }
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  /// This thread's; null: it works on none.
  [[nodiscard]] static const LogScope* current() noexcept { return current_; }

  [[nodiscard]] bool is_message() const noexcept { return !message_id_.empty(); }
  /// Made when it is asked for: hardly any attempt logs something.
  [[nodiscard]] std::string id() const {
    return is_message() ? std::string{message_id_} : task_.to_string();
  }
  [[nodiscard]] std::string_view type() const noexcept { return type_; }
  [[nodiscard]] int attempt() const noexcept { return attempt_; }
  [[nodiscard]] std::string_view trace_id() const noexcept { return trace_id_; }

 private:
  TaskId task_;
  std::string_view message_id_;
  std::string_view type_;
  int attempt_;
  std::string_view trace_id_;

  // NOLINTNEXTLINE(readability-identifier-naming): a member, which this check does not see
  static inline thread_local const LogScope* current_ = nullptr;
};

}  // namespace errand::detail
