#pragma once

#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include "support/eventually.hpp"

namespace errand::testing {

/// A thread of which a test can tell that it waits for something.
class WatchedThread {
 public:
  explicit WatchedThread(std::function<void()> body)
      : thread_{[this, body = std::move(body)] {
          id_ = ::gettid();
          body();
        }} {}

  /// Waits until it sleeps, and not for a moment only, as for a lock. False: it does not.
  [[nodiscard]] bool falls_asleep() const {
    constexpr int kLooks = 5;
    int asleep = 0;
    return eventually([&] {
      asleep = id_ != 0 && state() == 'S' ? asleep + 1 : 0;
      return asleep == kLooks;
    });
  }

  void join() { thread_.join(); }

 private:
  /// What proc(5) calls the state: the word behind the name in parentheses.
  [[nodiscard]] char state() const {
    std::ifstream file{"/proc/self/task/" + std::to_string(id_) + "/stat"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto name_end = text.rfind(") ");
    return name_end == std::string::npos ? '?' : text[name_end + 2];
  }

  std::atomic<pid_t> id_ = 0;
  std::jthread thread_;
};

}  // namespace errand::testing
