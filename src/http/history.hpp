#pragma once

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/observation.hpp"

namespace errand::http {

/// Milliseconds.
struct Percentiles {
  double p50 = 0;
  double p95 = 0;
  double max = 0;
};

/// Tasks a second.
struct Rates {
  double submitted = 0;
  double completed = 0;
  double failed = 0;
  double cancelled = 0;
};

/// One point of a chart: an observation, and what happened since the point before.
struct Sample {
  Timestamp at{};
  TaskStats stats{};
  std::vector<WorkerInfo> workers{};
  std::optional<Rates> rates{};  ///< nullopt in the first sample
  std::optional<Percentiles> wait{};
  std::optional<Percentiles> duration{};
};

/// Makes samples of observations, one each `step`. Not thread-safe.
class Sampler {
 public:
  explicit Sampler(std::chrono::seconds step) : step_{step} {}

  /// A sample if the step is over, else nullopt: the observation counts for the next one.
  [[nodiscard]] std::optional<Sample> add(const Observation& seen);

 private:
  std::chrono::seconds step_;
  std::optional<Timestamp> last_at_;
  std::int64_t last_open_ = 0;
  StatusCounts ended_{};
  std::vector<Observation::Timing> timings_;
};

/// The last samples of this process, in two resolutions. Thread-safe.
class History {
 public:
  static constexpr std::chrono::seconds kFineStep{5};
  static constexpr std::chrono::seconds kCoarseStep{60};
  static constexpr std::size_t kMostSamples = 1440;

  void add(const Observation& seen);

  /// The `History` of the API: the newest `last` samples. `step` is one of the two.
  [[nodiscard]] std::string json(std::chrono::seconds step, std::size_t last = kMostSamples) const;

 private:
  struct Ring {
    explicit Ring(std::chrono::seconds step, std::size_t most) : sampler{step}, capacity{most} {}
    Sampler sampler;
    std::size_t capacity;
    std::deque<std::string> samples{};  ///< as JSON: they are written once and read often
  };

  mutable std::mutex mutex_;
  Ring fine_{kFineStep, 720};
  Ring coarse_{kCoarseStep, kMostSamples};
};

/// The `Sample` of the API.
[[nodiscard]] std::string to_json(const Sample& sample);

}  // namespace errand::http
