#include "invoice_intake/processing/lost_task_sweep.hpp"

#include <csignal>
#include <exception>
#include <string>

#include "invoice_intake/processing/lost_tasks.hpp"

namespace errand::invoices {

LostTaskSweep::LostTaskSweep(Database& database, Engine& engine, std::chrono::seconds retry_delay,
                             Logger& logger, std::chrono::milliseconds interval)
    : database_{database},
      engine_{engine},
      retry_delay_{retry_delay},
      logger_{logger},
      interval_{interval} {
  sweep();
  // Threads inherit the mask: signals are for the worker.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LostTaskSweep::sweep() noexcept {
  try {
    settle_lost_tasks(database_, engine_, retry_delay_, logger_);
  } catch (const std::exception& error) {
    logger_.warning(std::string{"looking for lost tasks: "} + error.what() + "; trying again");
  }
}

void LostTaskSweep::run(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!stopping_.wait_for(lock, stop, interval_, [] { return false; }) &&
         !stop.stop_requested()) {
    sweep();
  }
}

}  // namespace errand::invoices
