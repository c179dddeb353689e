#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <gtest/gtest.h>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace errand::testing {

/// Runs body(0) … body(count - 1) in threads that start together; returns when all have ended. The
/// test fails if one of them throws.
inline void at_once(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::string> errors(count);
  {
    std::latch start{static_cast<std::ptrdiff_t>(count)};
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        try {
          body(i);
        } catch (const std::exception& error) {
          errors[i] = error.what();
        }
      });
    }
  }
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(errors[i], "") << "in thread " << i;
}

}  // namespace errand::testing
