#pragma once

#include <string>
#include <string_view>

namespace errand::detail {

/// Which attempt a thread works on, while it does: what is logged meanwhile, by Errand or by the
/// handler, belongs to it. One at a time in a thread.
class LogScope {
 public:
  /// `type` and `trace_id`, which may be empty, must outlive it.
  LogScope(std::string task_id, std::string_view type, int attempt, std::string_view trace_id)
      : task_id_{std::move(task_id)}, type_{type}, attempt_{attempt}, trace_id_{trace_id} {
    current_ = this;
  }
  ~LogScope() { current_ = nullptr; }
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  /// This thread's; null: it works on none.
  [[nodiscard]] static const LogScope* current() noexcept { return current_; }

  [[nodiscard]] const std::string& task_id() const noexcept { return task_id_; }
  [[nodiscard]] std::string_view type() const noexcept { return type_; }
  [[nodiscard]] int attempt() const noexcept { return attempt_; }
  [[nodiscard]] std::string_view trace_id() const noexcept { return trace_id_; }

 private:
  std::string task_id_;
  std::string_view type_;
  int attempt_;
  std::string_view trace_id_;

  static inline thread_local const LogScope* current_ = nullptr;
};

}  // namespace errand::detail
