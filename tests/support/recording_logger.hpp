#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/logger.hpp"

#include "support/milestone.hpp"

namespace errand::testing {

/// Keeps what was logged, and lets a test wait for it.
class RecordingLogger final : public Logger {
 public:
  void write(Level level, std::string_view text) noexcept override {
    {
      const std::lock_guard lock{mutex_};
      lines_.emplace_back(text);
      levels_.push_back(level);
    }
    written_.notify_all();
  }

  /// Waits for a line with `part` in it. False: none came.
  [[nodiscard]] bool says(std::string_view part) {
    std::unique_lock lock{mutex_};
    return written_.wait_for(lock, kPatience, [&] {
      return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
      });
    });
  }

  /// How serious the first line with `part` in it is; nullopt: there is none yet.
  [[nodiscard]] std::optional<Level> level_of(std::string_view part) {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].find(part) != std::string::npos) return levels_[i];
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::string> lines() {
    const std::lock_guard lock{mutex_};
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable written_;
  std::vector<std::string> lines_;
  std::vector<Level> levels_;
};

}  // namespace errand::testing
