#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "errand/errors.hpp"

#include "support/counting_engine.hpp"
#include "support/milestone.hpp"

namespace errand::testing {

/// An engine that fails when it is told to.
class FaultyEngine final : public CountingEngine {
 public:
  using Retry = StorageException::Retry;

  using CountingEngine::CountingEngine;

  /// The next calls of this kind throw instead of being done.
  void refuse(Call call, Retry retry = Retry::helps, std::size_t times = 1) {
    plan(call, Fault{retry, false}, times);
  }

  /// The next call of this kind throws what no engine should: memory has run out.
  void run_out_of_memory(Call call) { plan(call, Fault{std::nullopt, false}, 1); }
  /// The next call of this kind throws what is not even an exception.
  void throw_a_number(Call call) { plan(call, Fault{std::nullopt, false, true}, 1); }

  /// All calls of this kind throw until mend() is called.
  void break_down(Call call) { refuse(call, Retry::helps, 1'000'000); }
  void mend() {
    const std::lock_guard lock{mutex_};
    for (auto& faults : faults_) faults.clear();
  }

  /// The next calls of this kind are done, and throw all the same: the reply is lost.
  void lose_reply(Call call, Retry retry = Retry::in_doubt, std::size_t times = 1) {
    plan(call, Fault{retry, true}, times);
  }

  /// The next call of this kind stands still until then, and is done after it.
  void hold(Call call, Milestone& until) {
    const std::lock_guard lock{mutex_};
    held_[static_cast<std::size_t>(call)].push_back(&until);
  }

  /// Who called last.
  [[nodiscard]] std::thread::id last_caller(Call call) {
    const std::lock_guard lock{mutex_};
    return callers_[static_cast<std::size_t>(call)];
  }

 protected:
  void before(Call call) override {
    CountingEngine::before(call);
    {
      const std::lock_guard lock{mutex_};
      callers_[static_cast<std::size_t>(call)] = std::this_thread::get_id();
    }
    Milestone* until = nullptr;
    {
      const std::lock_guard lock{mutex_};
      auto& held = held_[static_cast<std::size_t>(call)];
      if (!held.empty()) {
        until = held.front();
        held.pop_front();
      }
    }
    if (until != nullptr) static_cast<void>(until->was_reached());
    raise(call, false);
  }
  void after(Call call) override { raise(call, true); }

 private:
  struct Fault {
    std::optional<Retry> retry;  ///< none: std::bad_alloc
    bool done;
    bool number = false;
  };

  void plan(Call call, Fault fault, std::size_t times) {
    const std::lock_guard lock{mutex_};
    auto& faults = faults_[static_cast<std::size_t>(call)];
    faults.insert(faults.end(), times, fault);
  }

  void raise(Call call, bool done) {
    const std::lock_guard lock{mutex_};
    auto& faults = faults_[static_cast<std::size_t>(call)];
    if (faults.empty() || faults.front().done != done) return;
    const Fault fault = faults.front();
    faults.pop_front();
    if (fault.number) throw 42;
    if (!fault.retry) throw std::bad_alloc{};
    throw StorageException{done ? "the reply was lost" : "the storage is away", *fault.retry};
  }

  std::mutex mutex_;
  std::array<std::deque<Fault>, kCalls> faults_;
  std::array<std::deque<Milestone*>, kCalls> held_;
  std::array<std::thread::id, kCalls> callers_;
};

}  // namespace errand::testing
