#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "errand/engine.hpp"
#include "errand/logger.hpp"

#include "http/history.hpp"
#include "http/newest_tasks.hpp"
#include "http/observation.hpp"

namespace errand::http {

/// A change, on its way to everybody who listens.
struct Change {
  enum class Kind : std::uint8_t { stats, tasks, removed };
  Kind kind = Kind::stats;
  std::string frame{};               ///< as a server-sent event
  std::vector<TaskId> tasks{};       ///< those of `tasks` and `removed`, as `frames` has them
  std::vector<std::string> items{};  ///< of `tasks`: each task's JSON, in the same order
  bool more = false;                 ///< of `tasks`: others may have changed, too
};

/// Looks at the storage for everybody: one thread, one read, however many listen. It looks when a
/// signal says that something changed, and by itself once a second while somebody listens, every
/// five seconds otherwise; and never more than a tenth of the time, so that a storage which is slow
/// to count is left alone.
///
/// Thread-safe. Destruction waits for its thread.
class ChangeFeed {
 public:
  using Publish = std::function<void(std::shared_ptr<const Change>)>;

  /// `publish` is called by the feed's thread and must return soon. The references must outlive it.
  ChangeFeed(Engine& engine, History& history, Logger& logger, Publish publish);
  ~ChangeFeed();
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;

  /// Somebody listens to stats, to all tasks, or to these tasks; until as many unlisten() calls.
  struct Interest {
    bool stats = false;
    bool tasks = false;
    std::vector<TaskId> only{};  ///< with `tasks`: these, however old; empty: any
  };
  void listen(const Interest& interest);
  void unlisten(const Interest& interest);

  /// The last observation; null before the first one, and while the storage cannot be read.
  [[nodiscard]] std::shared_ptr<const Observation> last_observation() const;

  /// The last sample as an event, for those who have just come; null before the first one.
  [[nodiscard]] std::shared_ptr<const Change> last_sample() const;

 private:
  using Steady = std::chrono::steady_clock;

  /// What tells one state of a task from the next.
  struct Fingerprint {
    std::int64_t version = 0;
    std::size_t progress = 0;
    bool cancel_requested = false;
    static Fingerprint of(const TaskRecord& task);
    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  };

  void run();
  /// False: the storage could not be read.
  [[nodiscard]] bool look(bool listened, bool tasks_wanted);
  void look_at_stats();
  void look_at_tasks();
  /// Those of the watched whose turn it is. With the lock held.
  [[nodiscard]] std::unordered_set<TaskId> take_turn();
  void publish_sample(const Sample& sample);
  void on_signal(Signal signal, const SignalEvent& event);

  Engine& engine_;
  History& history_;
  Logger& logger_;
  const Publish publish_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool signalled_ = false;
  std::int64_t stats_listeners_ = 0;
  std::int64_t task_listeners_ = 0;
  std::map<TaskId, std::int64_t> watched_;  ///< how many watch each
  std::unordered_set<TaskId> told_gone_;    ///< of the watched: those who watch it know
  std::unordered_set<TaskId> named_;        ///< by signals
  bool more_than_named_ = false;
  std::shared_ptr<const Observation> observation_;
  std::shared_ptr<const Change> sample_;

  // Of the feed's thread alone.
  Sampler live_{std::chrono::seconds{1}};
  Observer observer_{engine_};
  Steady::time_point stats_at_{};
  Steady::time_point count_again_{};  ///< not before
  Steady::duration counting_{};       ///< how much of the last look it was
  Steady::time_point published_at_{};
  std::string published_;  ///< what the last sample said, but for its time
  std::unordered_map<TaskId, Fingerprint> seen_;
  std::optional<TaskId> last_watched_;  ///< the next look begins behind it
  NewestTasks newest_;
  bool knows_tasks_ = false;  ///< seen_ holds what was there before
  bool in_trouble_ = false;

  std::vector<Subscription> subscriptions_;
  std::jthread thread_;
};

}  // namespace errand::http
