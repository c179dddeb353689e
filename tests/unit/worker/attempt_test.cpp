#include "core/attempt.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "core/worker_lost.hpp"

namespace errand::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Failure failure(FailureKind kind, milliseconds after = {}) {
  Failure failure;
  failure.kind = kind;
  failure.error.class_name = "std::runtime_error";
  failure.error.message = "it broke";
  failure.after = after;
  return failure;
}

struct Case {
  const char* name;
  int max_retries;
  int attempt;
  FailureKind kind;
  milliseconds asked;
  std::optional<milliseconds> retried_after;  ///< nullopt: failed
};

TEST(AfterFailure, FollowsThePolicyUnlessTheHandlerSaysOtherwise) {
  const Case cases[]{
      {"first attempt", 3, 1, FailureKind::ordinary, {}, seconds{1}},
      {"second attempt", 3, 2, FailureKind::ordinary, {}, seconds{5}},
      {"third attempt", 3, 3, FailureKind::ordinary, {}, seconds{25}},
      {"the last one", 3, 4, FailureKind::ordinary, {}, std::nullopt},
      {"beyond the last one", 3, 5, FailureKind::ordinary, {}, std::nullopt},
      {"no retries", 0, 1, FailureKind::ordinary, {}, std::nullopt},
      {"unrecoverable", 3, 1, FailureKind::unrecoverable, {}, std::nullopt},
      {"recoverable", 3, 1, FailureKind::recoverable, {}, seconds{1}},
      {"recoverable, however often", 3, 5, FailureKind::recoverable, {}, seconds{625}},
      {"recoverable without retries", 0, 1, FailureKind::recoverable, {}, seconds{1}},
      {"a time of its own", 3, 1, FailureKind::retry_later, seconds{90}, seconds{90}},
      {"at once", 3, 3, FailureKind::retry_later, seconds{0}, seconds{0}},
      {"in the past", 3, 1, FailureKind::retry_later, seconds{-5}, seconds{0}},
      {"its own time counts as an attempt", 3, 4, FailureKind::retry_later, seconds{9},
       std::nullopt},
      {"its own time without retries", 0, 1, FailureKind::retry_later, seconds{9}, std::nullopt},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    const RetryPolicy policy{.max_retries = row.max_retries};
    const Outcome outcome = after_failure(policy, row.attempt, failure(row.kind, row.asked), 0.5);
    if (row.retried_after) {
      const auto* retried = std::get_if<Retried>(&outcome);
      ASSERT_NE(retried, nullptr);
      EXPECT_EQ(retried->after, *row.retried_after);
      EXPECT_EQ(retried->error.message, "it broke");
    } else {
      const auto* failed = std::get_if<Failed>(&outcome);
      ASSERT_NE(failed, nullptr);
      EXPECT_EQ(failed->error.message, "it broke");
    }
  }
}

TEST(AfterFailure, SpreadsThePolicysWaitByChance) {
  const RetryPolicy policy{.delay = seconds{10}, .jitter = 0.5};
  const auto after = [&](double random) {
    return std::get<Retried>(after_failure(policy, 1, failure(FailureKind::ordinary), random))
        .after;
  };
  EXPECT_EQ(after(0.0), seconds{5});
  EXPECT_EQ(after(0.5), seconds{10});
  EXPECT_GT(after(0.99), seconds{14});
}

TEST(AfterLostWorker, TheTaskWaitsAgainUntilItHasLostTooMany) {
  static_assert(after_lost_worker(1, 3, false) == TaskStatus::retrying);
  static_assert(after_lost_worker(2, 3, false) == TaskStatus::retrying);
  static_assert(after_lost_worker(3, 3, false) == TaskStatus::failed);
  static_assert(after_lost_worker(4, 3, false) == TaskStatus::failed);
  static_assert(after_lost_worker(1, 1, false) == TaskStatus::failed);
  EXPECT_EQ(after_lost_worker(std::numeric_limits<int>::max(), 3, false), TaskStatus::failed);
}

TEST(AfterLostWorker, ARequestToCancelIsHonoured) {
  static_assert(after_lost_worker(1, 3, true) == TaskStatus::cancelled);
  EXPECT_EQ(after_lost_worker(3, 3, true), TaskStatus::cancelled);
}

TEST(WorkerLost, NamesTheWorkerAndHowOftenThatHappened) {
  const ExceptionData first = worker_lost("host:1:ab", 1);
  EXPECT_EQ(first.class_name, "errand::WorkerLost");
  EXPECT_EQ(first.message, "worker host:1:ab was lost while it held this task");
  EXPECT_EQ(worker_lost("host:1:ab", 3).message,
            "worker host:1:ab was lost while it held this task (3 times so far)");
}

}  // namespace
}  // namespace errand::detail
