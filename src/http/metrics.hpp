#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "errand/errors.hpp"

#include "http/observation.hpp"

namespace errand::http {

/// What /metrics tells. Thread-safe; nothing here throws but for want of memory.
///
/// Types and queues are labels, and clients name them: past kMostKinds pairs further ones count as
/// type and queue `other`.
class Metrics {
 public:
  static constexpr std::size_t kMostKinds = 500;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  enum class TaskEvent : std::uint8_t {
    submitted,
    started,
    completed,
    failed,
    retried,
    cancelled,
    released
  };
  void count(TaskEvent event, std::string_view type, std::string_view queue);
  void observe_wait(std::string_view type, std::string_view queue, std::chrono::microseconds wait);
  void observe_duration(std::string_view type, std::string_view queue,
                        std::chrono::microseconds duration);

  enum class Batch : std::uint8_t { submit, claim, settle };
  void observe_batch(Batch batch, std::size_t tasks);

  /// A call of the engine by the name of its method.
  void observe_call(const std::string& operation, std::chrono::microseconds duration);
  void count_error(const std::string& operation, StorageException::Retry retry);

  void observe_request(std::string_view method, std::string_view route, unsigned status,
                       std::chrono::microseconds duration);
  enum class Gauge : std::uint8_t { connections, event_streams, long_polls };
  void add(Gauge gauge, int difference);

  /// What this process did, in the text format of Prometheus.
  [[nodiscard]] std::string text() const;

  /// And what the storage holds. `seen`, which may be null, gives the gauges of queues and
  /// workers.
  [[nodiscard]] std::string text(const Observation* seen) const;

 private:
  class Families;
  std::unique_ptr<Families> families_;
};

}  // namespace errand::http
