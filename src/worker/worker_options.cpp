#include <fmt/format.h>

#include "errand/errors.hpp"
#include "errand/worker.hpp"

#include "core/document_rules.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;

/// What the clock can count without trouble.
constexpr milliseconds kLongest = std::chrono::years{10};

void require(bool holds, const std::string& message) {
  if (!holds) throw ConfigurationException{message};
}

}  // namespace

void validate(const WorkerOptions& options) {
  require(!options.queues.empty(), "a worker needs at least one queue");
  for (const std::string& queue : options.queues) {
    try {
      detail::check_label("queue", queue);
    } catch (const ValidationException& error) {
      throw ConfigurationException{error.what()};
    }
  }
  require(options.concurrency >= 0 && options.concurrency <= 1024,
          fmt::format("concurrency is {}; it goes from 1 to 1024, 0 meaning one per processor",
                      options.concurrency));
  require(options.lease >= milliseconds{100} && options.lease <= std::chrono::hours{24},
          fmt::format("the lease is {} ms; it goes from 100 ms to 24 h", options.lease.count()));
  require(options.grace >= milliseconds{0} && options.grace <= kLongest,
          "the grace period goes from 0 to 10 years");
  require(options.limit >= 0, "the limit cannot be negative; 0 means none");
  require(options.time_limit >= milliseconds{0} && options.time_limit <= kLongest,
          "the time limit goes from 0, which means none, to 10 years");
  require(options.poll_interval >= milliseconds{1} && options.poll_interval <= kLongest,
          "the poll interval goes from 1 ms to 10 years");
  require(options.failure_limit >= 0, "the failure limit cannot be negative; 0 means none");
  require(options.max_crashes >= 1, "a task may lose at least one worker");
}

std::string_view to_string(WorkerReport::Reason reason) noexcept {
  switch (reason) {
    case WorkerReport::Reason::stopped:
      return "stopped";
    case WorkerReport::Reason::drained:
      return "drained";
    case WorkerReport::Reason::limit:
      return "limit reached";
    case WorkerReport::Reason::time_limit:
      return "time limit reached";
    case WorkerReport::Reason::memory_limit:
      return "memory limit reached";
    case WorkerReport::Reason::failure_limit:
      return "failure limit reached";
  }
  return "";
}

}  // namespace errand
