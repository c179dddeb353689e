#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"
#include "errand/worker.hpp"

namespace errand {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(WorkerOptions, TheDefaultsAreValid) { EXPECT_NO_THROW(validate(WorkerOptions{})); }

TEST(WorkerOptions, TheBoundsThemselvesAreValid) {
  WorkerOptions options;
  options.concurrency = 1024;
  options.lease = milliseconds{100};
  options.grace = milliseconds{0};
  options.max_crashes = 1;
  EXPECT_NO_THROW(validate(options));
  options.lease = hours{24};
  EXPECT_NO_THROW(validate(options));
}

TEST(WorkerOptions, WhatMakesNoSenseIsRefusedByName) {
  struct Case {
    const char* named;
    std::function<void(WorkerOptions&)> spoil;
  };
  const Case cases[]{
      {"at least one queue", [](WorkerOptions& o) { o.queues.clear(); }},
      {"queue",
       [](WorkerOptions& o) {
         o.queues = {"mail", ""};
       }},
      {"queue", [](WorkerOptions& o) { o.queues = {std::string(191, 'q')}; }},
      {"concurrency is -1", [](WorkerOptions& o) { o.concurrency = -1; }},
      {"concurrency is 1025", [](WorkerOptions& o) { o.concurrency = 1025; }},
      {"lease is 99 ms", [](WorkerOptions& o) { o.lease = milliseconds{99}; }},
      {"lease", [](WorkerOptions& o) { o.lease = hours{24} + milliseconds{1}; }},
      {"grace", [](WorkerOptions& o) { o.grace = milliseconds{-1}; }},
      {"limit", [](WorkerOptions& o) { o.limit = -1; }},
      {"time limit", [](WorkerOptions& o) { o.time_limit = milliseconds{-1}; }},
      {"failure limit", [](WorkerOptions& o) { o.failure_limit = -1; }},
      {"lose at least one worker", [](WorkerOptions& o) { o.max_crashes = 0; }},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.named);
    WorkerOptions options;
    row.spoil(options);
    try {
      validate(options);
      ADD_FAILURE() << "must throw";
    } catch (const ConfigurationException& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.named));
    }
  }
}

TEST(WorkerReport, EachReasonHasItsWords) {
  using Reason = WorkerReport::Reason;
  EXPECT_EQ(to_string(Reason::stopped), "stopped");
  EXPECT_EQ(to_string(Reason::drained), "drained");
  EXPECT_EQ(to_string(Reason::limit), "limit reached");
  EXPECT_EQ(to_string(Reason::time_limit), "time limit reached");
  EXPECT_EQ(to_string(Reason::memory_limit), "memory limit reached");
  EXPECT_EQ(to_string(Reason::failure_limit), "failure limit reached");
}

}  // namespace
}  // namespace errand
