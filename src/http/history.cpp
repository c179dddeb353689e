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

constexpr std::size_t kMostEnded = 5000;

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

std::optional<Percentiles> percentiles_of(const std::vector<Observation::Ended>& ended,
                                          std::chrono::microseconds Observation::Ended::*span) {
  if (ended.empty()) return std::nullopt;
  std::vector<double> milliseconds;
  milliseconds.reserve(ended.size());
  for (const Observation::Ended& task : ended) {
    milliseconds.push_back(std::chrono::duration<double, std::milli>{task.*span}.count());
  }
  return percentiles(std::move(milliseconds));
}

Rates rates_between(const StatusCounts& before, const StatusCounts& after, double seconds) {
  // Whoever deletes or requeues tasks makes counts smaller: not less than nothing happened.
  const auto rate = [&](std::int64_t difference) {
    return static_cast<double>(std::max<std::int64_t>(difference, 0)) / seconds;
  };
  const auto growth = [&](TaskStatus status) {
    const auto i = static_cast<std::size_t>(status);
    return after.at(i) - before.at(i);
  };
  const auto all = [](const StatusCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  return {.submitted = rate(all(after) - all(before)),
          .completed = rate(growth(TaskStatus::completed)),
          .failed = rate(growth(TaskStatus::failed)),
          .cancelled = rate(growth(TaskStatus::cancelled))};
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
  for (const Observation::Ended& task : seen.ended) {
    if (ended_.size() < kMostEnded) ended_.push_back(task);
  }
  // A little early is better than a whole observation late.
  constexpr std::chrono::milliseconds kEarly{100};
  if (last_at_ && seen.at < *last_at_ + step_ - kEarly) return std::nullopt;
  Sample sample{.at = seen.at, .stats = seen.stats, .workers = seen.workers};
  if (last_at_) {
    sample.rates = rates_between(last_counts_, seen.stats.tasks,
                                 std::chrono::duration<double>{seen.at - *last_at_}.count());
    sample.wait = percentiles_of(ended_, &Observation::Ended::wait);
    sample.duration = percentiles_of(ended_, &Observation::Ended::duration);
  }
  last_at_ = seen.at;
  last_counts_ = seen.stats.tasks;
  ended_.clear();
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
