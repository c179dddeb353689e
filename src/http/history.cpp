#include "http/history.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "app/operator_json.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostTimings = 5000;

/// Two digits behind the point, and none that say nothing.
std::string number(double value) { return fmt::format("{}", std::round(value * 100) / 100); }

Percentiles percentiles(std::vector<double> milliseconds) {
  std::ranges::sort(milliseconds);
  const auto at = [&](double part) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(part * static_cast<double>(milliseconds.size())));
    return milliseconds[std::max<std::size_t>(rank, 1) - 1];
  };
  return {.p50 = at(0.50), .p95 = at(0.95), .max = milliseconds.back()};
}

std::optional<Percentiles> percentiles_of(const std::vector<Observation::Timing>& timings,
                                          std::chrono::microseconds Observation::Timing::*span) {
  if (timings.empty()) return std::nullopt;
  std::vector<double> milliseconds;
  milliseconds.reserve(timings.size());
  for (const Observation::Timing& task : timings) {
    milliseconds.push_back(std::chrono::duration<double, std::milli>{task.*span}.count());
  }
  return percentiles(std::move(milliseconds));
}

std::int64_t open_of(const StatusCounts& counts) {
  std::int64_t open = 0;
  for (const TaskStatus status : kAllTaskStatuses) {
    if (!is_final(status)) open += counts.at(static_cast<std::size_t>(status));
  }
  return open;
}

/// `more_open`: by how many the tasks that are not final became more.
Rates rates_of(const StatusCounts& ended, std::int64_t more_open, double seconds) {
  const auto rate = [&](std::int64_t tasks) {
    return static_cast<double>(std::max<std::int64_t>(tasks, 0)) / seconds;
  };
  const auto ended_as = [&](TaskStatus status) {
    return ended.at(static_cast<std::size_t>(status));
  };
  // A task that came is open, or ended. Deleting open tasks, which few do, takes away from it.
  const std::int64_t came = more_open + std::accumulate(ended.begin(), ended.end(), 0LL);
  return {.submitted = rate(came),
          .completed = rate(ended_as(TaskStatus::completed)),
          .failed = rate(ended_as(TaskStatus::failed)),
          .cancelled = rate(ended_as(TaskStatus::cancelled))};
}

std::string to_json(const std::optional<Rates>& rates) {
  const auto rate = [&](double Rates::*which) { return rates ? number(*rates.*which) : "null"; };
  return fmt::format(R"({{"submitted":{},"completed":{},"failed":{},"cancelled":{}}})",
                     rate(&Rates::submitted), rate(&Rates::completed), rate(&Rates::failed),
                     rate(&Rates::cancelled));
}

std::string to_json(const std::optional<Percentiles>& values) {
  if (!values) return "null";
  return fmt::format(R"({{"p50":{},"p95":{},"max":{}}})", number(values->p50), number(values->p95),
                     number(values->max));
}

std::string history_json(const Sample& sample) {
  json::object due;
  std::int64_t running = 0;
  for (const QueueStats& queue : sample.stats.queues) {
    due[queue.queue] = queue.due;
    running += queue.running;
  }
  return fmt::format(
      R"({{"at":"{}","tasks":{},"due":{},"rates":{},"waitMs":{},"durationMs":{},"workers":{},"running":{}}})",
      to_iso8601(sample.at), json::serialize(detail::to_json(sample.stats.tasks)),
      json::serialize(due), to_json(sample.rates), to_json(sample.wait), to_json(sample.duration),
      sample.workers.size(), running);
}

}  // namespace

std::optional<Sample> Sampler::add(const Observation& seen) {
  const std::size_t room = kMostTimings - timings_.size();
  timings_.insert(
      timings_.end(), seen.timings.begin(),
      seen.timings.begin() + static_cast<std::ptrdiff_t>(std::min(room, seen.timings.size())));
  for (std::size_t i = 0; seen.ended && i < ended_.size(); ++i) ended_.at(i) += seen.ended->at(i);
  // A little early is better than a whole observation late.
  constexpr std::chrono::milliseconds kEarly{100};
  if (last_at_ && seen.at < *last_at_ + step_ - kEarly) return std::nullopt;
  const std::int64_t open = open_of(seen.stats.tasks);
  Sample sample{.at = seen.at, .stats = seen.stats, .workers = seen.workers};
  if (last_at_) {
    sample.rates = rates_of(ended_, open - last_open_,
                            std::chrono::duration<double>{seen.at - *last_at_}.count());
    sample.wait = percentiles_of(timings_, &Observation::Timing::wait);
    sample.duration = percentiles_of(timings_, &Observation::Timing::duration);
  }
  last_at_ = seen.at;
  last_open_ = open;
  ended_ = {};
  timings_.clear();
  return sample;
}

void History::add(const Observation& seen) {
  const std::lock_guard lock{mutex_};
  for (Ring* ring : {&fine_, &coarse_}) {
    if (const std::optional<Sample> sample = ring->sampler.add(seen)) {
      ring->samples.push_back(history_json(*sample));
      if (ring->samples.size() > ring->capacity) ring->samples.pop_front();
    }
  }
}

std::string History::json(std::chrono::seconds step, std::size_t last) const {
  const std::lock_guard lock{mutex_};
  const Ring& ring = step == kFineStep ? fine_ : coarse_;
  std::string text = "{\"step\":" + std::to_string(step.count()) + ",\"samples\":[";
  const std::size_t count = ring.samples.size();
  for (std::size_t i = count - std::min(count, last); i < count; ++i) {
    if (text.back() != '[') text += ',';
    text += ring.samples[i];
  }
  return text += "]}";
}

std::string to_json(const Sample& sample) {
  return fmt::format(
      R"({{"at":"{}","tasks":{},"queues":{},"workers":{},"rates":{},"waitMs":{},"durationMs":{}}})",
      to_iso8601(sample.at), json::serialize(detail::to_json(sample.stats.tasks)),
      json::serialize(detail::to_json(sample.stats.queues)),
      json::serialize(detail::to_json(sample.workers)), to_json(sample.rates), to_json(sample.wait),
      to_json(sample.duration));
}

}  // namespace errand::http
