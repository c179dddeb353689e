#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "errand/envelope.hpp"
#include "errand/export.hpp"
#include "errand/progress.hpp"
#include "errand/retry.hpp"
#include "errand/task.hpp"

namespace errand {

/// All that is known of a task: its record and where it stands in the queue.
struct TaskRecord {
  TaskData data;
  std::string type{};                  ///< empty for records that were never queued
  std::optional<std::string> queue{};  ///< nullopt for records that were never queued
  int priority = 0;
  std::optional<Timestamp> available_at{};
  int attempts = 0;
  int crashes = 0;
  RetryPolicy retry{};
  Headers headers{};
  std::optional<std::string> worker{};
  std::optional<Timestamp> lease_expires_at{};
  bool cancel_requested = false;
  std::optional<Progress> progress{};

  /// JSON array of the attempts that failed or were lost so far, oldest first, at most the last
  /// kMaxHistory: {"attempt":1,"at":…,"worker":…,"error":{…}}. nullopt: none.
  std::optional<std::string> history{};

  bool expired = false;  ///< TaskStorage::load() would not return it any more
};

inline constexpr int kMaxHistory = 20;

/// to_json(TaskData)'s members, then type, queue, priority, availableAt, attempts, maxRetries,
/// crashes, version and, where there is one, worker, leaseExpiresAt, cancelRequested, expired,
/// progress, headers, history.
[[nodiscard]] ERRAND_EXPORT std::string to_json(const TaskRecord& task);

struct TaskFilter {
  std::vector<TaskStatus> statuses{};  ///< empty: any
  std::optional<std::string> type{};
  std::optional<std::string> queue{};
};

struct PageRequest {
  std::int64_t page = 1;  ///< from 1
  std::int64_t page_size = 20;
  bool documents = true;  ///< false: leave out payload, result, error and history, which may be big
  bool errors = false;    ///< with documents left out: not the errors, each of which is small

  /// TaskPage::next of the page before this one: the items begin behind its last one, whatever was
  /// submitted meanwhile, and `page` is passed over. Costs the same however far back it is.
  std::optional<std::int64_t> after{};

  bool count = true;  ///< false: leave out the total, which costs more the more there are
};

struct TaskPage {
  std::vector<TaskRecord> items{};  ///< newest submit first
  std::int64_t total = 0;
  std::int64_t page = 1;
  std::int64_t page_size = 20;
  std::optional<std::int64_t> next{};  ///< for PageRequest::after; nullopt: there are no more

  [[nodiscard]] std::int64_t total_pages() const noexcept {
    return (total + page_size - 1) / page_size;
  }
};

/// Tasks by status.
using StatusCounts = std::array<std::int64_t, kAllTaskStatuses.size()>;

struct QueueStats {
  std::string queue{};
  bool paused = false;
  std::int64_t due = 0;      ///< waiting, and claimable now
  std::int64_t delayed = 0;  ///< waiting for their time
  std::int64_t running = 0;
  std::optional<std::chrono::milliseconds> oldest_due{};  ///< how long the first due one waits
};

struct TaskStats {
  StatusCounts tasks{};
  std::vector<QueueStats> queues{};  ///< by name; those with open tasks or paused
};

/// What ended lately.
struct EndedTasks {
  struct Second {
    Timestamp begin{};
    StatusCounts tasks{};  ///< that ended in this second and are still stored
  };
  std::vector<Second> seconds{};     ///< oldest first; those in which none ended are left out
  std::vector<TaskRecord> latest{};  ///< the last that ended first; without documents
};

/// What operators ask. Thread-safe; reads only; throws StorageException.
class ERRAND_EXPORT TaskCatalog {
 public:
  virtual ~TaskCatalog() = default;

  /// Expired tasks included, as long as they were not deleted.
  [[nodiscard]] virtual std::optional<TaskRecord> find(TaskId id) = 0;

  /// Those of `ids` that find() would find, without their documents, in any order: one question for
  /// all of them.
  [[nodiscard]] virtual std::vector<TaskRecord> find_all(std::span<const TaskId> ids) = 0;

  /// Expired tasks included. A page past the end has no items. Throws ValidationException for pages
  /// and page sizes below 1.
  [[nodiscard]] virtual TaskPage list(const TaskFilter& filter, const PageRequest& request) = 0;

  [[nodiscard]] virtual TaskStats stats() = 0;

  /// The tasks that ended in the second of `since` or later: how many in each second, and the last
  /// `latest` of them. Costs more the more these are, whatever else is stored. Seconds are not
  /// over when they are first seen: a task shows when its transaction is done, which is a little
  /// later than its completed_at says.
  [[nodiscard]] virtual EndedTasks ended(Timestamp since, std::size_t latest) = 0;
};

}  // namespace errand
