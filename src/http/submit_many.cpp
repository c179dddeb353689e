#include "http/submit_many.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "errand/errors.hpp"

#include "http/problem.hpp"
#include "http/submit_body.hpp"
#include "http/submit_once.hpp"

namespace errand::http {
namespace {

constexpr std::size_t kBatchTasks = 1000;

std::vector<Submission> submissions_of(Engine& engine, const Request& request) {
  const Timestamp now = engine.now();
  std::vector<Submission> submissions;
  for (RequestedTask& requested : requested_tasks(request)) {
    delay_until_due(requested, now);
    submissions.push_back({.requested = std::move(requested)});
  }
  return submissions;
}

/// Of the first that is refused; `stored` others are.
void refuse_errors(std::span<const Submission> submissions, std::size_t stored) {
  for (const Submission& submission : submissions) {
    if (!submission.error) continue;
    try {
      std::rethrow_exception(submission.error);
    } catch (Problem& problem) {
      if (stored > 0)
        problem = std::move(problem).adding(fmt::format("; {} tasks are stored", stored));
      throw std::move(problem).at_line(submission.requested.line);
    }
  }
}

std::size_t count_new(std::span<const Submission> submissions) {
  return static_cast<std::size_t>(std::ranges::count_if(submissions, &Submission::is_new));
}

}  // namespace

Response submit_many(Engine& engine, const Request& request) {
  std::vector<Submission> submissions = submissions_of(engine, request);
  look_before(engine, submissions);
  refuse_errors(submissions, 0);
  std::size_t stored = 0;
  for (std::size_t i = 0; i < submissions.size(); i += kBatchTasks) {
    const auto batch =
        std::span{submissions}.subspan(i, std::min(kBatchTasks, submissions.size() - i));
    try {
      store_new(engine, batch);
    } catch (const StorageException& error) {
      throw StorageException{fmt::format("{}; the first {} tasks are stored", error.what(), i),
                             error.retry()};
    }
    stored += count_new(batch);
    refuse_errors(batch, stored);
  }
  std::string text = fmt::format(R"({{"submitted":{},"taskIds":[)", stored);
  for (const Submission& submission : submissions) {
    if (text.back() != '[') text += ',';
    text += '"' + submission.requested.task.id.to_string() + '"';
  }
  return Response::json(text + "]}", stored > 0 ? 201 : 200);
}

}  // namespace errand::http
