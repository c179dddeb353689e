#include "distributor_upgrade/commands/stop_signals.hpp"

#include <csignal>
#include <pthread.h>
#include <unistd.h>

namespace errand::distributors {
namespace {

sigset_t stopping_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t signals = stopping_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread{[this] { wait_for_signals(); }};
}

StopSignals::~StopSignals() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGTERM);  // which only the thread's sigwait() sees
  thread_.join();
  const sigset_t signals = stopping_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void StopSignals::wait_for_signals() {
  const sigset_t signals = stopping_signals();
  int number = 0;
  while (sigwait(&signals, &number) == 0 && !ending_) {
    // 128 + number is what a shell reports for a process that a signal ended.
    if (!stop_.request_stop()) _exit(128 + number);
  }
}

}  // namespace errand::distributors
