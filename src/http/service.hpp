#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "errand/engine.hpp"

#include "http/access.hpp"
#include "http/failure_transports.hpp"
#include "http/history.hpp"
#include "http/metrics.hpp"
#include "http/observation.hpp"
#include "http/totals.hpp"

namespace errand::http {

/// What the routes work on. Shared by all threads that serve; the engine must outlive it.
struct Service {
  Engine& engine;
  Metrics& metrics;
  History& history;
  const Access& access;
  std::vector<std::string> worker_types{};  ///< what this process's worker can run
  std::function<std::shared_ptr<const Observation>()> last_observation{};
  Totals totals{};
  FailureTransports* failed_messages = nullptr;  ///< null: this server has no configuration
};

}  // namespace errand::http
