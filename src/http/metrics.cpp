#include "http/metrics.hpp"

#include <array>
#include <mutex>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <set>
#include <utility>
#include <vector>

namespace errand::http {
namespace {

using prometheus::ClientMetric;
using prometheus::Labels;
using prometheus::MetricFamily;
using prometheus::MetricType;

double seconds(std::chrono::microseconds span) {
  return std::chrono::duration<double>{span}.count();
}

const prometheus::Histogram::BucketBoundaries& time_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets{
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
      1,     2.5,    5,     10,   30,    60,   300, 900,  3600};
  return buckets;
}

const prometheus::Histogram::BucketBoundaries& size_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets{1,  2,   5,   10,  20,
                                                               50, 100, 200, 500, 1000};
  return buckets;
}

std::string_view to_string(StorageException::Retry retry) {
  switch (retry) {
    case StorageException::Retry::helps:
      return "helps";
    case StorageException::Retry::useless:
      return "useless";
    case StorageException::Retry::in_doubt:
      break;
  }
  return "in_doubt";
}

/// Builds a family out of an observation: what is not there any more is not told.
class ObservedFamily {
 public:
  ObservedFamily(std::string name, std::string help, MetricType type = MetricType::Gauge) {
    family_.name = std::move(name);
    family_.help = std::move(help);
    family_.type = type;
  }

  void add(double value, const std::vector<std::pair<std::string, std::string>>& labels = {}) {
    ClientMetric metric;
    metric.gauge.value = value;
    metric.counter.value = value;
    for (const auto& [name, text] : labels) metric.label.push_back({name, text});
    family_.metric.push_back(std::move(metric));
  }

  [[nodiscard]] MetricFamily take() { return std::move(family_); }

 private:
  MetricFamily family_;
};

void add_counts(const StatusCounts& counts, std::vector<MetricFamily>& families) {
  ObservedFamily tasks{"errand_tasks", "Tasks in the storage by status"};
  for (const TaskStatus status : kAllTaskStatuses) {
    tasks.add(static_cast<double>(counts.at(static_cast<std::size_t>(status))),
              {{"status", std::string{errand::to_string(status)}}});
  }
  families.push_back(tasks.take());
}

void add_queues(const std::vector<QueueStats>& queues, std::vector<MetricFamily>& families) {
  ObservedFamily depth{"errand_queue_tasks", "Open tasks of a queue: due, delayed or running"};
  ObservedFamily oldest{"errand_queue_oldest_due_seconds", "How long the first due task waits"};
  ObservedFamily paused{"errand_queue_paused", "1 while a queue is paused"};
  for (const QueueStats& queue : queues) {
    depth.add(static_cast<double>(queue.due), {{"queue", queue.queue}, {"state", "due"}});
    depth.add(static_cast<double>(queue.delayed), {{"queue", queue.queue}, {"state", "delayed"}});
    depth.add(static_cast<double>(queue.running), {{"queue", queue.queue}, {"state", "running"}});
    const auto age = queue.oldest_due.value_or(std::chrono::milliseconds{0});
    oldest.add(std::chrono::duration<double>{age}.count(), {{"queue", queue.queue}});
    paused.add(queue.paused ? 1 : 0, {{"queue", queue.queue}});
  }
  families.push_back(depth.take());
  families.push_back(oldest.take());
  families.push_back(paused.take());
}

void add_workers(const Observation& seen, std::vector<MetricFamily>& families) {
  ObservedFamily count{"errand_workers", "Workers that show themselves"};
  ObservedFamily concurrency{"errand_worker_concurrency", "Tasks a worker runs at once at most"};
  ObservedFamily running{"errand_worker_running", "Tasks in the handlers of a worker"};
  ObservedFamily handled{"errand_worker_handled_total",
                         "Attempts a worker has ended since it started", MetricType::Counter};
  ObservedFamily failed{"errand_worker_failed_total",
                        "Of these, how many failed or will be retried", MetricType::Counter};
  ObservedFamily silent{"errand_worker_silent_seconds", "Since the last heartbeat of a worker"};
  count.add(static_cast<double>(seen.workers.size()));
  for (const WorkerInfo& worker : seen.workers) {
    const std::vector<std::pair<std::string, std::string>> labels{{"worker", worker.worker}};
    concurrency.add(worker.concurrency, labels);
    running.add(static_cast<double>(worker.running), labels);
    handled.add(static_cast<double>(worker.handled), labels);
    failed.add(static_cast<double>(worker.failed), labels);
    silent.add(std::max(0.0, seconds(seen.at - worker.seen_at)), labels);
  }
  for (ObservedFamily* family : {&count, &concurrency, &running, &handled, &failed, &silent}) {
    families.push_back(family->take());
  }
}

}  // namespace

class Metrics::Families {
 public:
  Labels kind(std::string_view type, std::string_view queue) {
    std::pair<std::string, std::string> pair{type, queue};
    const std::lock_guard lock{mutex_};
    if (!kinds_.contains(pair)) {
      if (kinds_.size() == kMostKinds) {
        pair = {"other", "other"};
      } else {
        kinds_.insert(pair);
      }
    }
    return {{"type", pair.first}, {"queue", pair.second}};
  }

  prometheus::Registry registry{};

  std::array<prometheus::Family<prometheus::Counter>*, 7> task_events{
      &counter("errand_tasks_submitted_total", "Tasks submitted through this process"),
      &counter("errand_tasks_started_total", "Attempts begun by this process's worker"),
      &counter("errand_tasks_completed_total", "Tasks completed by this process's worker"),
      &counter("errand_tasks_failed_total", "Tasks that failed for good in this process's worker"),
      &counter("errand_tasks_retried_total", "Attempts that failed and will be retried"),
      &counter("errand_tasks_cancelled_total", "Running tasks that honoured a request to cancel"),
      &counter("errand_tasks_released_total", "Tasks handed back unfinished")};
  prometheus::Family<prometheus::Histogram>& wait =
      histogram("errand_task_wait_seconds", "From when a task is due to its first claim");
  prometheus::Family<prometheus::Histogram>& duration =
      histogram("errand_task_duration_seconds", "How long handlers take");
  std::array<prometheus::Histogram*, 3> batches{
      &histogram("errand_submit_batch_size", "Tasks stored by one transaction")
           .Add({}, size_buckets()),
      &histogram("errand_claim_batch_size", "Tasks taken by one claim").Add({}, size_buckets()),
      &histogram("errand_settle_batch_size", "Outcomes stored by one transaction")
           .Add({}, size_buckets())};
  prometheus::Family<prometheus::Histogram>& calls =
      histogram("errand_engine_call_seconds", "Calls of the storage, by operation");
  prometheus::Family<prometheus::Counter>& errors =
      counter("errand_engine_errors_total",
              "Calls of the storage that failed, by operation and by whether a retry helps");
  prometheus::Family<prometheus::Counter>& requests =
      counter("errand_http_requests_total", "HTTP requests by method, route and status");
  prometheus::Family<prometheus::Histogram>& request_times =
      histogram("errand_http_request_seconds", "From the end of a request to its answer");
  std::array<prometheus::Gauge*, 3> gauges{
      &gauge("errand_http_connections", "Open connections"),
      &gauge("errand_http_event_streams", "Clients that listen to /api/events"),
      &gauge("errand_http_long_polls", "Clients that wait for a result")};

 private:
  prometheus::Family<prometheus::Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  prometheus::Family<prometheus::Histogram>& histogram(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  prometheus::Gauge& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  }

  std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> kinds_;
};

Metrics::Metrics() : families_{std::make_unique<Families>()} {}
Metrics::~Metrics() = default;

void Metrics::count(TaskEvent event, std::string_view type, std::string_view queue) {
  families_->task_events.at(static_cast<std::size_t>(event))
      ->Add(families_->kind(type, queue))
      .Increment();
}

void Metrics::observe_wait(std::string_view type, std::string_view queue,
                           std::chrono::microseconds wait) {
  families_->wait.Add(families_->kind(type, queue), time_buckets()).Observe(seconds(wait));
}

void Metrics::observe_duration(std::string_view type, std::string_view queue,
                               std::chrono::microseconds duration) {
  families_->duration.Add(families_->kind(type, queue), time_buckets()).Observe(seconds(duration));
}

void Metrics::observe_batch(Batch batch, std::size_t tasks) {
  families_->batches.at(static_cast<std::size_t>(batch))->Observe(static_cast<double>(tasks));
}

void Metrics::observe_call(const std::string& operation, std::chrono::microseconds duration) {
  families_->calls.Add({{"operation", operation}}, time_buckets()).Observe(seconds(duration));
}

void Metrics::count_error(const std::string& operation, StorageException::Retry retry) {
  families_->errors.Add({{"operation", operation}, {"retry", std::string{to_string(retry)}}})
      .Increment();
}

void Metrics::observe_request(std::string_view method, std::string_view route, unsigned status,
                              std::chrono::microseconds duration) {
  families_->requests
      .Add({{"method", std::string{method}},
            {"route", std::string{route}},
            {"status", std::to_string(status)}})
      .Increment();
  families_->request_times.Add({{"route", std::string{route}}}, time_buckets())
      .Observe(seconds(duration));
}

void Metrics::add(Gauge gauge, int difference) {
  families_->gauges.at(static_cast<std::size_t>(gauge))->Increment(difference);
}

std::string Metrics::text() const {
  return prometheus::TextSerializer{}.Serialize(families_->registry.Collect());
}

std::string Metrics::text(const Observation* seen) const {
  std::vector<MetricFamily> families = families_->registry.Collect();
  ObservedFamily up{"errand_storage_up", "1 while the storage can be read"};
  up.add(seen != nullptr ? 1 : 0);
  families.push_back(up.take());
  if (seen != nullptr) {
    add_counts(seen->stats.tasks, families);
    add_queues(seen->stats.queues, families);
    add_workers(*seen, families);
  }
  return prometheus::TextSerializer{}.Serialize(families);
}

}  // namespace errand::http
