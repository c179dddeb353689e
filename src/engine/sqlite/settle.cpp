#include "engine/sqlite/settle.hpp"

#include "errand/task_catalog.hpp"

#include "engine/sqlite/statements.hpp"

namespace errand::sqlite {
namespace {

/// The history with one more entry: ?6 time, ?7 error. The oldest entry makes room for it.
const std::string kHistoryWithError =
    "json_insert(CASE WHEN history IS NULL OR NOT json_valid(history) THEN '[]' "
    "WHEN json_array_length(history) >= " +
    std::to_string(kMaxHistory) + R"(
                      THEN json_remove(history, '$[0]') ELSE history END,
                 '$[#]', json_object('attempt', attempts, 'at', ?6, 'worker', worker,
                                     'error', json(?7))))";

/// 1 task_id, 2 version, 3 error, 4 now, 5 crashes to add, each of which took its attempt with it,
/// 6 and 7 for the history.
const std::string kFail = R"(
UPDATE async_tasks
SET status = 'failed', error = ?3, result = NULL, completed_at = max(?4, started_at),
    version = version + 1, crashes = crashes + ?5, attempts = attempts - ?5,
    lease_expires_at = NULL, progress = NULL,
    history = )" + kHistoryWithError +
                          R"(
WHERE task_id = ?1 AND version = ?2 AND status = 'running')";

/// 1 task_id, 2 version, 3 available_at or NULL for the old one, 4 attempts to give back, 5 crashes
/// to add, 6 and 7 for the history; 7 is NULL where there is no error to tell.
const std::string kWaitAgain = R"(
UPDATE async_tasks
SET status = 'retrying', available_at = coalesce(?3, available_at), attempts = attempts - ?4, crashes = crashes + ?5,
    result = NULL, error = NULL, version = version + 1, lease_expires_at = NULL,
    history = CASE WHEN ?7 IS NULL THEN history ELSE )" +
                               kHistoryWithError + R"( END
WHERE task_id = ?1 AND version = ?2 AND status = 'running')";

/// 1 task_id, 2 version, 3 now, 4 whether a request is needed, 5 attempts to give back, 6 crashes
/// to add.
constexpr const char* kCancel = R"(
UPDATE async_tasks
SET status = 'cancelled', result = NULL, error = NULL, completed_at = max(?3, started_at),
    version = version + 1, attempts = attempts - ?5, crashes = crashes + ?6,
    lease_expires_at = NULL, progress = NULL
WHERE task_id = ?1 AND version = ?2 AND status = 'running' AND (cancel_requested OR NOT ?4))";

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace

Settler::Settler(Connection& connection, Changes& changes, Timestamp now)
    : connection_{connection},
      changes_{changes},
      now_{now},
      now_text_{to_sql_time(now)},
      now_iso_{to_iso8601(now)} {}

bool Settler::settle(const Settlement& settlement) {
  const Lease& lease = settlement.lease;
  return std::visit(Overload{[&](const Completed& outcome) { return complete(lease, outcome); },
                             [&](const Failed& outcome) { return fail(lease, outcome.error, 0); },
                             [&](const Retried& outcome) {
                               return cancel(lease, true, 0, 0) ||
                                      wait_again(lease, &outcome.error, outcome.after, 0, 0);
                             },
                             [&](const CancelHonoured&) { return cancel(lease, false, 0, 0); },
                             [&](const Released& outcome) {
                               return cancel(lease, true, 1, 0) ||
                                      wait_again(lease, nullptr, outcome.after, 1, 0);
                             }},
                    settlement.outcome);
}

void Settler::rescue(const Lease& lease, TaskStatus status, const ExceptionData& error) {
  switch (status) {
    case TaskStatus::cancelled:
      cancel(lease, false, 1, 1);
      break;
    case TaskStatus::failed:
      fail(lease, error, 1);
      break;
    default:
      wait_again(lease, &error, std::nullopt, 1, 1);
      break;
  }
}

bool Settler::complete(const Lease& lease, const Completed& outcome) {
  const std::string id = lease.id.to_string();
  connection_.prepare(sql::kComplete)
      .bind(1, id)
      .bind(2, lease.version)
      .bind(3, outcome.result)
      .bind(4, now_text_)
      .run();
  return changed_one(lease, true);
}

bool Settler::fail(const Lease& lease, const ExceptionData& error, int crashed) {
  const std::string id = lease.id.to_string();
  const std::string json = to_json(error);
  connection_.prepare(kFail.c_str())
      .bind(1, id)
      .bind(2, lease.version)
      .bind(3, json)
      .bind(4, now_text_)
      .bind(5, crashed)
      .bind(6, now_iso_)
      .bind(7, json)
      .run();
  return changed_one(lease, true);
}

bool Settler::wait_again(const Lease& lease, const ExceptionData* error,
                         std::optional<std::chrono::milliseconds> after, int attempts_back,
                         int crashed) {
  const std::string id = lease.id.to_string();
  std::optional<std::string> available_at;
  if (after) available_at = to_sql_time(now_ + *after);
  std::optional<std::string> json;
  if (error != nullptr) json = to_json(*error);
  connection_.prepare(kWaitAgain.c_str())
      .bind(1, id)
      .bind(2, lease.version)
      .bind(3, available_at)
      .bind(4, attempts_back)
      .bind(5, crashed)
      .bind(6, now_iso_)
      .bind(7, json)
      .run();
  if (!changed_one(lease, false)) return false;
  changes_.work = true;
  return true;
}

bool Settler::cancel(const Lease& lease, bool only_if_requested, int attempts_back, int crashed) {
  const std::string id = lease.id.to_string();
  connection_.prepare(kCancel)
      .bind(1, id)
      .bind(2, lease.version)
      .bind(3, now_text_)
      .bind(4, only_if_requested ? 1 : 0)
      .bind(5, attempts_back)
      .bind(6, crashed)
      .run();
  return changed_one(lease, true);
}

bool Settler::changed_one(const Lease& lease, bool final) {
  if (connection_.changes() == 0) return false;
  if (final) changes_.final_tasks.push_back(lease.id);
  return true;
}

}  // namespace errand::sqlite
