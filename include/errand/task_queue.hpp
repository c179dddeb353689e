#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "errand/envelope.hpp"
#include "errand/exception_data.hpp"
#include "errand/export.hpp"
#include "errand/progress.hpp"
#include "errand/retry.hpp"
#include "errand/signals.hpp"
#include "errand/task_id.hpp"
#include "errand/task_status.hpp"
#include "errand/timestamp.hpp"

namespace errand {

inline constexpr const char* kDefaultQueue = "default";

/// A task to submit.
struct NewTask {
  TaskId id = TaskId::generate();
  Envelope envelope;
  std::string queue = kDefaultQueue;
  std::chrono::milliseconds delay{0};  ///< not before this much later, by the engine's clock
  int priority = 0;                    ///< higher runs first, in -32768…32767
  RetryPolicy retry{};
};

/// Throws ValidationException unless type and queue are 1 to 190 bytes of UTF-8 without control
/// characters, the priority is in range, the delay is 0 to 10 years, and the retry policy and the
/// documents (body; headers, at most 64 of them and 64 KiB in all) are within their limits.
ERRAND_EXPORT void validate(const NewTask& task);

/// One attempt at one task: the right to settle it while `version` is still the stored one.
struct Lease {
  TaskId id;
  std::int64_t version;
};

struct Claim {
  Lease lease;
  Envelope envelope;
  std::string queue{};
  int priority = 0;
  int attempt = 1;  ///< this one's number; attempts lost with a worker are not counted
  int crashes = 0;  ///< workers lost while they held it
  RetryPolicy retry{};
  Timestamp submitted_at{};
  Timestamp available_at{};  ///< since when it was due, by the engine's clock
  bool cancel_requested = false;

  /// Of a message without a record: what it is called in all of its attempts; empty: a task.
  std::string message_id{};
};

/// A task that lost this many workers is a suspect: one more may be its last. Its first losses can
/// be others' fault, since whatever kills a worker takes all tasks in its hands along.
inline constexpr int kSuspectCrashes = 2;

struct ClaimRequest {
  std::vector<std::string> queues{};  ///< the earlier one first, as long as it has due tasks
  std::size_t limit = 1;
  std::string worker{};  ///< who claims; shown to operators
  std::chrono::milliseconds lease{15'000};

  /// How many of the claimed may be suspects (see kSuspectCrashes). A worker holds one at a time,
  /// so that the task which kills workers does not take innocent ones to their end.
  std::size_t suspects = 1;

  /// For a worker with a taker, see WorkQueue::stand_by(): so many tasks it can begin at once.
  /// Where the claim gets fewer, tasks that come later may be handed over. Each claim says it anew.
  std::size_t stands_by = 0;
};

struct ClaimBatch {
  std::vector<Claim> claims{};  ///< by queue, then priority, then due time

  /// When to claim again, if the batch has fewer than `limit`: the next waiting task of these
  /// queues is due then, or may be. Relative, so that it means the same by every clock.
  std::optional<std::chrono::milliseconds> next_due{};

  /// Part of the answer was lost: more may have been claimed. held_by() tells.
  bool in_doubt = false;
};

/// How an attempt ended.
struct Completed {
  std::string result{};
};
struct Failed {
  ExceptionData error{};
};
struct Retried {
  ExceptionData error{};
  std::chrono::milliseconds after{0};
};
struct CancelHonoured {};
/// Handed back unfinished; no attempt is spent.
struct Released {
  std::optional<std::chrono::milliseconds> after{};  ///< without it, to its old place in the queue
};
using Outcome = std::variant<Completed, Failed, Retried, CancelHonoured, Released>;

struct Settlement {
  Lease lease;
  Outcome outcome;
};

enum class SettleStatus : std::uint8_t {
  settled,
  lease_lost,  ///< another attempt has begun, or the task was changed or removed: nothing was done
};

struct LeaseState {
  Lease lease;
  bool lost = false;
  bool cancel_requested = false;
};

enum class CancelStatus : std::uint8_t {
  cancelled,      ///< it was waiting, and is cancelled
  requested,      ///< it is running; its handler is asked to stop
  already_final,  ///< too late
  not_found,
};

struct RescueRequest {
  /// 0: only shows that leases can be changed now, and takes nothing.
  std::size_t limit = 1000;
  int max_crashes = 3;  ///< the task that loses this many workers fails
};

struct Rescued {
  TaskId id;
  std::string queue{};
  std::string worker{};  ///< who lost it
  TaskStatus status;     ///< retrying; failed after max_crashes; cancelled if that was requested
};

/// A task that will not change by itself any more.
struct Finish {
  enum class Kind : std::uint8_t { finished, expired, unknown };
  TaskId id;
  Kind kind = Kind::finished;
  TaskStatus status = TaskStatus::completed;  ///< this and the rest only if finished
  std::optional<std::string> result{};
  std::optional<std::string> error{};
};

struct ProgressReport {
  Lease lease;
  Progress progress;
};

/// Takes a task that was claimed for its worker. Called by an engine's thread; must return soon and
/// must not call the engine.
using Taker = std::function<void(Claim claim)>;

/// What a worker asks of a queue, in batches: each call is as few transactions as its size allows,
/// mostly one.
///
/// All methods are thread-safe and may block on the storage. Any of them throws StorageException;
/// nothing is changed then, unless it says in_doubt: some of the batch may be. An empty batch
/// touches nothing.
///
/// Fencing: each change of status raises the task's version. A claim hands the version out, and
/// settle(), extend() and report_progress() apply only where it still is the stored one, so that a
/// worker which lost its lease cannot touch its successor's attempt. Lease extensions, progress
/// and requests to cancel are not changes of status and leave the version alone.
class ERRAND_EXPORT WorkQueue {
 public:
  virtual ~WorkQueue() = default;

  /// Claims up to `request.limit` due tasks of queues that are not paused; empty if none. Does not
  /// wait: see Signals::subscribe().
  [[nodiscard]] virtual ClaimBatch claim(const ClaimRequest& request) = 0;

  /// Lets `worker` be handed tasks: one that is submitted while a claim of this worker says that it
  /// stands by may be claimed for it in the same step, and given to `taker` with no further turn.
  /// That is a right of the queue's, not a duty; queues that cannot do so do nothing. At the end of
  /// the subscription `taker` is not running and will not run again; a task that was on its way to
  /// it is found by held_by(), or by its lease. `taker` must not wait for another stand_by().
  // NOLINTNEXTLINE(performance-unnecessary-value-param): queues that can do so keep it.
  [[nodiscard]] virtual Subscription stand_by(const std::string& /*worker*/, Taker /*taker*/) {
    return {};
  }

  /// Lets the leases end `lease` from now. One state for each of `leases`, in order; the lost ones
  /// are gone. A lease that has run out but was not rescued yet is extended.
  virtual std::vector<LeaseState> extend(std::span<const Lease> leases,
                                         std::chrono::milliseconds lease) = 0;

  /// The attempts that the storage takes for this worker's. After a claim whose answer was lost,
  /// the worker finds here what it does not know of, and hands it back.
  [[nodiscard]] virtual std::vector<Lease> held_by(const std::string& worker) = 0;

  /// Ends attempts. One status for each, in order. A task whose cancellation was requested goes
  /// to cancelled instead of retrying. A late settle that nobody overtook counts. Throws
  /// ValidationException and settles none if a result is not UTF-8 without NUL or too large.
  virtual std::vector<SettleStatus> settle(std::span<const Settlement> settlements) = 0;

  /// Keeps the newest progress where the lease is still held; silently drops the others.
  virtual void report_progress(std::span<const ProgressReport> reports) = 0;

  /// Takes tasks away from workers whose lease has expired: with one more crash and the attempt
  /// given back, in their old place of the queue; or failed with class `errand::WorkerLost`.
  /// Where the storage stands still meanwhile nobody could extend a lease: then it takes nothing.
  virtual std::vector<Rescued> rescue(const RescueRequest& request) = 0;
};

/// The queue of tasks: what workers ask of it, and everybody else.
class ERRAND_EXPORT TaskQueue : public WorkQueue {
 public:
  /// Stores the tasks as pending; durable on return. Ids that are stored already are left as they
  /// are, so that repeating a submit whose outcome is in doubt is safe. Returns how many were not.
  /// Throws ValidationException and stores none if validate() would for one of them.
  virtual std::size_t submit(std::span<const NewTask> tasks) = 0;

  /// How many submits at a time serve many callers best, at least 1; what comes meanwhile shares
  /// the next one.
  [[nodiscard]] virtual std::size_t submits_at_a_time() const noexcept { return 1; }

  /// The same, where the record may be stored already: one that is pending in no queue, as other
  /// programs save it, joins the task's queue with the task's payload; submitted_at stays. All
  /// others are left as they are.
  virtual void adopt(std::span<const NewTask> tasks) = 0;

  /// Cancels what waits, asks what runs. One status for each of `ids`, in order.
  virtual std::vector<CancelStatus> cancel(std::span<const TaskId> ids) = 0;

  /// Runs failed or cancelled tasks again from the start: pending, no attempts, no error. Others
  /// are left alone. Returns how many.
  virtual std::size_t requeue(std::span<const TaskId> ids) = 0;

  /// Deletes those of `ids` that are final. Returns how many.
  virtual std::size_t discard(std::span<const TaskId> ids) = 0;

  /// Those of `ids` that are finished, expired or unknown, in any order; the others are left out.
  [[nodiscard]] virtual std::vector<Finish> finished(std::span<const TaskId> ids) = 0;

  /// A paused queue takes submits and settles but gives no claims. Pausing twice, and pausing a
  /// queue that has no tasks yet, are fine. Throws ValidationException for what cannot name a
  /// queue; then none of them changes.
  virtual void pause(std::span<const std::string> queues) = 0;
  virtual void resume(std::span<const std::string> queues) = 0;
};

}  // namespace errand
