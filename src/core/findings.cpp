#include "core/findings.hpp"

#include <chrono>
#include <set>
#include <string>
#include <utility>

namespace errand::detail {
namespace {

using Severity = Finding::Severity;

constexpr std::chrono::minutes kLongWait{5};

}  // namespace

Finding schema_finding(int installed, int supported) {
  std::string detail =
      "version " + std::to_string(installed) + ", this program uses " + std::to_string(supported);
  if (installed == supported) return {Severity::ok, "schema", std::move(detail), {}};
  return {Severity::problem, "schema", std::move(detail),
          installed < supported ? "run `errand setup`" : "use the newer Errand that made it"};
}

Finding clock_finding(std::chrono::microseconds skew) {
  const auto apart = std::chrono::abs(std::chrono::duration_cast<std::chrono::milliseconds>(skew));
  std::string detail = std::to_string(apart.count()) + " ms apart";
  if (apart < std::chrono::seconds{5})
    return {Finding::Severity::ok, "clocks", std::move(detail), {}};
  return {Finding::Severity::warning, "clocks", std::move(detail),
          "the server's clock rules; run NTP on both, or logs will mislead you"};
}

std::vector<Finding> queue_findings(const TaskStats& stats,
                                    const std::vector<WorkerInfo>& workers) {
  std::set<std::string> served;
  for (const WorkerInfo& worker : workers) {
    served.insert(worker.queues.begin(), worker.queues.end());
  }
  std::vector<Finding> findings;
  for (const QueueStats& queue : stats.queues) {
    if (queue.due == 0) continue;
    const std::string subject = "queue " + queue.queue;
    const std::string waiting =
        std::to_string(queue.due) + (queue.due == 1 ? " due task" : " due tasks");
    if (queue.paused) {
      findings.push_back({Severity::warning, subject, waiting + ", and it is paused",
                          "resume it with `errand queue resume " + queue.queue + "`"});
    } else if (!served.contains(queue.queue)) {
      findings.push_back({Severity::warning, subject, waiting + ", and no worker serves it",
                          "start one with `errand worker --queue " + queue.queue + "`"});
    } else if (queue.oldest_due && *queue.oldest_due > kLongWait) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*queue.oldest_due);
      findings.push_back({Severity::warning, subject,
                          waiting + ", the oldest for " + std::to_string(seconds.count()) + " s",
                          "start more workers, or raise --concurrency, for this queue"});
    }
  }
  if (findings.empty()) {
    findings.push_back({Severity::ok, "queues", "nothing waits too long", {}});
  }
  return findings;
}

}  // namespace errand::detail
