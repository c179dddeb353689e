#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "errand/clock.hpp"
#include "errand/signals.hpp"

#include "bus/signal_hub.hpp"
#include "engine/sqlite/connection.hpp"
#include "engine/sqlite/wake_file.hpp"

namespace errand::sqlite {

/// What a transaction changed that others wait for; raised after it has committed.
struct Changes {
  bool work = false;
  std::vector<std::string> queues;  ///< where the work is, if known
  bool cancellation = false;
  std::vector<TaskId> final_tasks;
};

/// The file as this process uses it: one connection for writing, a few for reading, and the wake-up
/// signals of this and the other processes. Thread-safe.
class Database final : public Signals {
 public:
  struct Settings {
    Connection::Settings connection;
    const Clock* clock = nullptr;
    std::chrono::milliseconds ttl{0};
  };

  explicit Database(Settings settings);
  ~Database() override;

  /// Calls `body(Connection&, Changes&)` in a transaction, commits, and raises what it changed.
  /// Returns what `body` returns. If it throws, nothing has happened.
  template <class Body>
  auto write(Body&& body) {
    Changes changes;
    auto result = [&] {
      const std::lock_guard lock{writer_mutex_};
      const WakeFile::WriteTurn turn{wake_file_};
      WriteTransaction transaction{writer_};
      auto value = body(writer_, changes);
      transaction.commit();
      return value;
    }();
    raise(changes);
    return result;
  }

  /// Calls `body(Connection&)`: all its reads see one moment.
  template <class Body>
  auto read(Body&& body) {
    const Reader reader{*this};
    const ReadTransaction transaction{*reader.connection};
    return body(*reader.connection);
  }

  [[nodiscard]] Timestamp now() const { return settings_.clock->now(); }
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return settings_.ttl; }
  [[nodiscard]] bool is_expired(const std::optional<Timestamp>& completed_at) const {
    return completed_at && *completed_at + settings_.ttl < now();
  }
  [[nodiscard]] const Connection::Settings& settings() const noexcept {
    return settings_.connection;
  }

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override;
  [[nodiscard]] bool reaches_other_processes() const noexcept override { return true; }

 private:
  /// A reading connection for the length of a call; kept for the next one.
  struct Reader {
    explicit Reader(Database& from);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    void give_back() noexcept;

    Database& database;
    std::unique_ptr<Connection> connection;
  };

  void raise(const Changes& changes);
  void raise(Signal signal, const SignalEvent& event);
  [[nodiscard]] WakeFile::Counters signals_of_others() const noexcept;
  void listen(const std::stop_token& stop, WakeFile::Counters seen);

  Settings settings_;
  WakeFile wake_file_;

  std::mutex writer_mutex_;
  Connection writer_;

  std::mutex readers_mutex_;
  std::condition_variable reader_returned_;
  std::size_t readers_out_ = 0;
  std::vector<std::unique_ptr<Connection>> idle_readers_;

  detail::SignalHub hub_;
  /// How many of the wake file's signals are this object's own: told to the hub already.
  std::array<std::atomic<std::uint32_t>, kSignalCount> own_signals_{};
  std::jthread listener_;
};

}  // namespace errand::sqlite
