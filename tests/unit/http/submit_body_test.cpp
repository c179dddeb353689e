#include "http/submit_body.hpp"

#include <gtest/gtest.h>

#include "http/problem.hpp"

namespace errand::http {
namespace {

using namespace std::chrono_literals;

Request with_body(std::string body) {
  Request request;
  request.body = std::move(body);
  return request;
}

TEST(SubmitBody, ThePayloadKeepsItsText) {
  const RequestedTask task = requested_task(with_body(R"({"payload": [1.0, 1e2] ,"type":"t"})"));
  EXPECT_EQ(task.task.envelope.body(), "[1.0, 1e2]");
  EXPECT_EQ(task.task.envelope.type(), "t");
  EXPECT_FALSE(task.has_own_id);
}

TEST(SubmitBody, AMemberThatIsThereTwiceIsRefused) {
  EXPECT_THROW(
      static_cast<void>(requested_task(with_body(R"({"payload":1,"type":"t","p\u0061yload":2})"))),
      Problem);
}

TEST(SubmitBody, DurationsAreTextOrSeconds) {
  EXPECT_EQ(requested_task(with_body(R"({"type":"t","delay":1.5})")).task.delay, 1500ms);
  EXPECT_EQ(requested_task(with_body(R"({"type":"t","delay":"2m"})")).task.delay, 2min);
}

TEST(SubmitBody, AMomentBecomesADelayAndNeverANegativeOne) {
  RequestedTask task = requested_task(with_body(R"({"type":"t","at":"2030-01-01T00:00:10Z"})"));
  delay_until_due(task, *parse_iso8601("2030-01-01T00:00:00Z"));
  EXPECT_EQ(task.task.delay, 10s);
  delay_until_due(task, *parse_iso8601("2040-01-01T00:00:00Z"));
  EXPECT_EQ(task.task.delay, 0s);
}

TEST(SubmitBody, AKeyNamesTheSameTaskEveryTime) {
  Request request = with_body(R"({"type":"t"})");
  request.headers.idempotency_key = "order 17";
  const TaskId id = requested_task(request).task.id;
  EXPECT_EQ(requested_task(request).task.id, id);
  request.headers.idempotency_key = "order 18";
  EXPECT_NE(requested_task(request).task.id, id);
  // Stored ids depend on it: it must not change.
  request.headers.idempotency_key = "a";
  EXPECT_EQ(requested_task(request).task.id.to_string(), "fd1006d7-b70c-475e-b7a4-62c5ffd54e10");
}

TEST(SubmitBody, LinesOfAKeyAreTasksOfTheirOwn) {
  Request request = with_body("{\"type\":\"t\"}\n{\"type\":\"t\"}\n");
  request.headers.idempotency_key = "batch";
  const std::vector<RequestedTask> tasks = requested_tasks(request);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_NE(tasks[0].task.id, tasks[1].task.id);
}

TEST(SubmitBody, AnIdMustNotComeTwice) {
  const std::string line = R"({"type":"t","taskId":"0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10"})";
  EXPECT_THROW(static_cast<void>(requested_tasks(with_body(line + "\n" + line))), Problem);
}

}  // namespace
}  // namespace errand::http
