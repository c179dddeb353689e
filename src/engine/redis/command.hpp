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

  /// In the form of the protocol.
  [[nodiscard]] std::string wire() const;
  [[nodiscard]] std::size_t bytes() const noexcept { return arguments_.size(); }

 private:
  std::size_t count_ = 0;
  std::string arguments_;
};

}  // namespace errand::redis
