#include "engine/sqlite/database.hpp"

#include <utility>

#include "core/block_signals.hpp"
#include "engine/sqlite/file_checks.hpp"

namespace errand::sqlite {
namespace {

/// Other programs that write to the file raise no signals, but they are looked for by whoever
/// waits; the listener itself only has to notice its own end.
constexpr std::chrono::milliseconds kListenInterval{60'000};

/// More readers at once than this wait for each other: each costs three open files.
constexpr std::size_t kMostReaders = 16;

constexpr std::array kSignals{Signal::work, Signal::completion, Signal::cancellation};

}  // namespace

Database::Database(Settings settings)
    : settings_{std::move(settings)},
      wake_file_{wake_path(settings_.connection.path), settings_.connection.path},
      writer_{[this] {
        // Turning a new file to WAL needs it alone, and SQLite does not wait for that.
        const WakeFile::WriteTurn turn{wake_file_};
        return Connection{settings_.connection};
      }()},
      listener_{detail::start_without_signals(
          [this, seen = signals_of_others()](const std::stop_token& stop) {
            listen(stop, seen);
          })} {}

Database::~Database() {
  listener_.request_stop();
  wake_file_.nudge();
}

Subscription Database::subscribe(Signal signal, Callback callback) {
  return hub_.subscribe(signal, std::move(callback));
}

void Database::raise(const Changes& changes) {
  if (changes.work) raise(Signal::work, {.queues = changes.queues});
  if (changes.cancellation) raise(Signal::cancellation, {});
  if (!changes.final_tasks.empty()) raise(Signal::completion, {.tasks = changes.final_tasks});
}

void Database::raise(Signal signal, const SignalEvent& event) {
  // Own first: the listener takes the difference for signals of others, and may for a moment see
  // too few of them, which the next change of the file corrects, but never too many.
  own_signals_[static_cast<std::size_t>(signal)].fetch_add(1);
  wake_file_.raise(signal);
  hub_.deliver(signal, event);
}

WakeFile::Counters Database::signals_of_others() const noexcept {
  WakeFile::Counters counters = wake_file_.counters();
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] -= own_signals_[i].load();
  return counters;
}

void Database::listen(const std::stop_token& stop, WakeFile::Counters seen) {
  while (!stop.stop_requested()) {
    const std::uint32_t sequence = wake_file_.sequence();
    const WakeFile::Counters now = signals_of_others();
    for (const Signal signal : kSignals) {
      const auto i = static_cast<std::size_t>(signal);
      // Signed difference: the counters wrap, and an own signal under way makes it go back by one.
      if (static_cast<std::int32_t>(now[i] - seen[i]) > 0) {
        seen[i] = now[i];
        hub_.deliver(signal, {});
      }
    }
    if (!stop.stop_requested()) wake_file_.wait(sequence, kListenInterval);
  }
}

Database::Reader::Reader(Database& from) : database{from} {
  {
    std::unique_lock lock{database.readers_mutex_};
    database.reader_returned_.wait(lock, [&] { return database.readers_out_ < kMostReaders; });
    ++database.readers_out_;
    if (!database.idle_readers_.empty()) {
      connection = std::move(database.idle_readers_.back());
      database.idle_readers_.pop_back();
      return;
    }
  }
  try {
    Connection::Settings settings = database.settings_.connection;
    settings.mode = Connection::Mode::existing;
    connection = std::make_unique<Connection>(settings);
  } catch (const StorageException& error) {
    give_back();
    // The file was there a moment ago: too many open files, or somebody is busy with it.
    throw StorageException{error.what(), StorageException::Retry::helps};
  }
}

Database::Reader::~Reader() { give_back(); }

void Database::Reader::give_back() noexcept {
  {
    const std::lock_guard lock{database.readers_mutex_};
    --database.readers_out_;
    if (connection) database.idle_readers_.push_back(std::move(connection));
  }
  database.reader_returned_.notify_one();
}

}  // namespace errand::sqlite
