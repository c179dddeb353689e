#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "errand/task_id.hpp"
#include "errand/timestamp.hpp"

namespace errand::redis {

/// A command and its arguments, as they are sent.
class Command {
 public:
  Command() = default;
  explicit Command(std::string_view name) { add(name); }

  Command& add(std::string_view argument);
  Command& add(const char* argument) { return add(std::string_view{argument}); }
  Command& add(std::int64_t argument) { return add(std::string_view{std::to_string(argument)}); }
  Command& add(const TaskId& id) { return add(std::string_view{id.to_string()}); }
  /// In microseconds.
  Command& add(Timestamp time) { return add(std::int64_t{time.time_since_epoch().count()}); }
  /// After those of this one.
  Command& add(const Command& more);

  /// For so many more bytes of other commands' arguments.
  void reserve(std::size_t more) { arguments_.reserve(arguments_.size() + more); }

  /// In the form of the protocol: the head, then the arguments.
  [[nodiscard]] std::string head() const { return "*" + std::to_string(count_) + "\r\n"; }
  [[nodiscard]] const std::string& arguments() const noexcept { return arguments_; }
  [[nodiscard]] std::string wire() const { return head() + arguments_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return arguments_.size(); }

 private:
  std::size_t count_ = 0;
  std::string arguments_;
};

}  // namespace errand::redis
