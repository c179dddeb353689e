#pragma once

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "errand/worker.hpp"

#include "support/milestone.hpp"

namespace errand::testing {

/// A worker in a thread, whose report the test wants.
class RunningWorker {
 public:
  RunningWorker(Engine& engine, const Handlers& handlers, WorkerOptions options,
                Logger& logger = silent_logger())
      : worker_{engine, handlers, std::move(options), logger},
        thread_{[this](const std::stop_token& stop) {
          try {
            report_.set_value(worker_.run(stop));
          } catch (...) {
            report_.set_exception(std::current_exception());
          }
        }} {}

  [[nodiscard]] const std::string& name() const noexcept { return worker_.name(); }

  void stop() { thread_.request_stop(); }

  /// Waits for the end that a limit or stop() brings; throws what run() threw. Once.
  [[nodiscard]] WorkerReport report() {
    std::future<WorkerReport> report = report_.get_future();
    if (report.wait_for(kPatience) != std::future_status::ready) {
      throw std::runtime_error{"the worker does not end"};
    }
    return report.get();
  }

  [[nodiscard]] WorkerReport stop_and_report() {
    stop();
    return report();
  }

 private:
  Worker worker_;
  std::promise<WorkerReport> report_;
  std::jthread thread_;
};

}  // namespace errand::testing
