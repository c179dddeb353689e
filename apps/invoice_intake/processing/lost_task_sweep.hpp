#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "errand/engine.hpp"
#include "errand/logger.hpp"

#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

/// Settles lost tasks beside a worker: once before the constructor returns, then every minute in a
/// thread of its own, which takes no signals. Trouble with the storage is logged and waited out.
/// All references must outlive it.
class LostTaskSweep {
 public:
  LostTaskSweep(Database& database, Engine& engine, std::chrono::seconds retry_delay,
                Logger& logger, std::chrono::milliseconds interval = std::chrono::minutes{1});

 private:
  void sweep() noexcept;
  void run(const std::stop_token& stop);

  Database& database_;
  Engine& engine_;
  const std::chrono::seconds retry_delay_;
  Logger& logger_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable_any stopping_;
  std::jthread thread_;
};

}  // namespace errand::invoices
