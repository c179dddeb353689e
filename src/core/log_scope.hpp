#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace errand::detail {

/// Which attempt a thread works on, while it does: what is logged meanwhile, by Errand or by the
/// handler, belongs to it. One at a time in a thread.
class LogScope {
 public:
  /// The id of a task, or of a message without a record.
  struct Id {
    std::string text;
    bool is_message = false;
  };

  /// `type` and `trace_id`, which may be empty, must outlive it.
  LogScope(Id id, std::string_view type, int attempt, std::string_view trace_id)
      : id_{std::move(id)}, type_{type}, attempt_{attempt}, trace_id_{trace_id} {
    current_ = this;
  }
  ~LogScope() { current_ = nullptr; }
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  /// This thread's; null: it works on none.
  [[nodiscard]] static const LogScope* current() noexcept { return current_; }

  [[nodiscard]] const Id& id() const noexcept { return id_; }
  [[nodiscard]] std::string_view type() const noexcept { return type_; }
  [[nodiscard]] int attempt() const noexcept { return attempt_; }
  [[nodiscard]] std::string_view trace_id() const noexcept { return trace_id_; }

 private:
  Id id_;
  std::string_view type_;
  int attempt_;
  std::string_view trace_id_;

  static inline thread_local const LogScope* current_ = nullptr;
};

}  // namespace errand::detail
