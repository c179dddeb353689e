#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "errand/signals.hpp"

namespace errand::sqlite {

/// A page of shared memory beside the database through which processes wake each other, and a lock
/// through which they queue up for writing.
///
/// The page counts signals of each kind. Whoever commits a change adds one and wakes all waiters by
/// futex; a waiter compares the counters with those it saw last. Nothing is lost between looking
/// and sleeping, because the futex refuses to sleep on a counter that moved. A process that dies
/// between its commit and its signal is covered by the waiters' own occasional look.
class WakeFile {
 public:
  /// Counters by Signal.
  using Counters = std::array<std::uint32_t, kSignalCount>;

  /// Creates the file if needed, for whoever may use `database`. Throws StorageException.
  WakeFile(const std::string& path, const std::string& database);
  ~WakeFile();
  WakeFile(const WakeFile&) = delete;
  WakeFile& operator=(const WakeFile&) = delete;

  void raise(Signal signal) noexcept;

  /// Wakes every waiter for nothing, in this process and in others.
  void nudge() noexcept;

  /// Changes with every raise() and nudge() of anybody.
  [[nodiscard]] std::uint32_t sequence() const noexcept;
  [[nodiscard]] Counters counters() const noexcept;

  /// Returns when sequence() is not `seen` any more, or after `timeout`, or for nothing.
  void wait(std::uint32_t seen, std::chrono::milliseconds timeout) const noexcept;

  /// This process's turn to write. Waiting for it costs no polling, as SQLite's own lock would.
  /// Advisory and without promises: a turn that lasts too long, because its holder was stopped or
  /// killed, is taken over, and SQLite's lock sorts out the rest.
  class WriteTurn {
   public:
    explicit WriteTurn(WakeFile& file) noexcept;
    ~WriteTurn();
    WriteTurn(const WriteTurn&) = delete;
    WriteTurn& operator=(const WriteTurn&) = delete;

   private:
    std::atomic<std::uint32_t>& holder_;
    std::uint32_t self_;
  };

 private:
  struct Page {
    std::atomic<std::uint32_t> sequence;
    std::array<std::atomic<std::uint32_t>, kSignalCount> counters;
    alignas(64) std::atomic<std::uint32_t> writer;  ///< a process id; 0: nobody's turn
  };

  int descriptor_ = -1;
  Page* page_ = nullptr;
};

}  // namespace errand::sqlite
