#include "core/findings.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/schema_versions.hpp"

namespace errand::detail {
namespace {

using Severity = Finding::Severity;

constexpr std::chrono::minutes kLongWait{5};

/// A worker rescues what was lost within a second.
constexpr std::chrono::seconds kRescueTime{2};

/// A worker that was not seen for so long may be gone: it is only dropped from the list by others.
constexpr std::chrono::minutes kSilence{5};

std::string tasks_of(std::int64_t count, const std::string& kind) {
  return std::to_string(count) + " " + kind + (count == 1 ? " task" : " tasks");
}

/// Of a queue with running tasks. Whether their workers live is not known, but a worker that has
/// shown itself since a lease ran out rescues the task.
std::optional<Finding> lost_tasks(const std::string& queue, TaskCatalog& catalog,
                                  const std::vector<WorkerInfo>& workers, Timestamp now) {
  PageRequest request{
      .page = 1, .page_size = 1000, .documents = false, .after = {}, .count = false};
  std::int64_t lost = 0;
  // The oldest are the likeliest, and come last.
  do {
    const TaskPage page =
        catalog.list({.statuses = {TaskStatus::running}, .type = {}, .queue = queue}, request);
    for (const TaskRecord& task : page.items) {
      if (!task.lease_expires_at || now - *task.lease_expires_at < kRescueTime) continue;
      const Timestamp since = std::max<Timestamp>(*task.lease_expires_at, now - kSilence);
      if (std::ranges::none_of(workers,
                               [&](const WorkerInfo& worker) { return worker.seen_at > since; })) {
        ++lost;
      }
    }
    request.after = page.next;
  } while (request.after);
  if (lost == 0) return std::nullopt;
  return Finding{Severity::warning, "queue " + queue,
                 tasks_of(lost, "running") + (lost == 1 ? " was" : " were") +
                     " lost with a worker, and no worker is there to rescue " +
                     (lost == 1 ? "it" : "them"),
                 "start one with `errand worker --queue " + queue + "`"};
}

}  // namespace

Finding schema_finding(int installed, int supported) {
  if (installed == 0) {
    return {Severity::problem, "storage", std::string{"the storage "} + kNoTables, kMakeTables};
  }
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

std::vector<Finding> queue_findings(TaskCatalog& catalog, const std::vector<WorkerInfo>& workers,
                                    Timestamp now) {
  std::set<std::string> served;
  for (const WorkerInfo& worker : workers) {
    served.insert(worker.queues.begin(), worker.queues.end());
  }
  std::vector<Finding> findings;
  for (const QueueStats& queue : catalog.stats().queues) {
    if (queue.running > 0) {
      if (auto lost = lost_tasks(queue.queue, catalog, workers, now)) {
        findings.push_back(std::move(*lost));
      }
    }
    if (queue.due == 0) continue;
    const std::string subject = "queue " + queue.queue;
    const std::string waiting = tasks_of(queue.due, "due");
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
