#include "engine/postgres/settle.hpp"

#include <map>
#include <string>
#include <unordered_set>

#include "errand/task_catalog.hpp"

#include "engine/postgres/held_statements.hpp"
#include "engine/postgres/statements.hpp"

namespace errand::postgres {
namespace {

/// The history with one more entry. The oldest one makes room for it.
const std::string kHistoryWithError = R"((
  SELECT json_agg(entry ORDER BY place)::text FROM (
    SELECT entry, place FROM json_array_elements(errand_history(t.history))
      WITH ORDINALITY AS old (entry, place)
    UNION ALL
    SELECT json_build_object(
      'attempt', t.attempts,
      'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'worker', t.worker, 'error', s.error::json), 1000
    ORDER BY place DESC LIMIT )" + std::to_string(kMaxHistory) +
                                      R"() kept))";

/// Arrays: 1 task_id, 2 version, 3 error; 4 crashes to add, each of which took its attempt with it.
const std::string kFail = R"(
UPDATE async_tasks t
SET status = 'failed', error = s.error, result = NULL,
    completed_at = greatest(now(), t.started_at), version = t.version + 1,
    crashes = t.crashes + $4::int8, attempts = t.attempts - $4::int8,
    lease_expires_at = NULL, progress = NULL, history = )" +
                          kHistoryWithError + R"(
FROM unnest($1::uuid[], $2::int8[], $3::text[]) AS s (task_id, version, error)
WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = s.task_id AND t.version = s.version
  AND t.status COLLATE "C" = 'running'
RETURNING t.task_id)";

/// Arrays: 1 task_id, 2 version, 3 error or NULL where there is none to tell, 4 wait in ms or NULL
/// for the old place in the queue; 5 attempts to give back, 6 crashes to add. A task whose
/// cancellation was requested is cancelled instead: true comes back then.
const std::string kWaitAgain = R"(
UPDATE async_tasks t
SET status = CASE WHEN t.cancel_requested THEN 'cancelled' ELSE 'retrying' END,
    completed_at = CASE WHEN t.cancel_requested THEN greatest(now(), t.started_at) END,
    available_at = CASE WHEN s.after_ms IS NULL THEN t.available_at
                        ELSE now() + s.after_ms::int8 * interval '1 ms' END,
    attempts = t.attempts - $5::int8, crashes = t.crashes + $6::int8,
    result = NULL, error = NULL, version = t.version + 1, lease_expires_at = NULL,
    progress = CASE WHEN NOT t.cancel_requested THEN t.progress END,
    history = CASE WHEN s.error IS NULL OR t.cancel_requested THEN t.history ELSE )" +
                               kHistoryWithError + R"( END
FROM unnest($1::uuid[], $2::int8[], $3::text[], $4::text[]) AS s (task_id, version, error, after_ms)
WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = s.task_id AND t.version = s.version
  AND t.status COLLATE "C" = 'running'
RETURNING t.task_id, t.status = 'cancelled')";

/// Arrays: 1 task_id, 2 version; 3 crashes to add, each of which took its attempt with it.
constexpr const char* kCancel = R"(
UPDATE async_tasks t
SET status = 'cancelled', result = NULL, error = NULL,
    completed_at = greatest(now(), t.started_at), version = t.version + 1,
    attempts = t.attempts - $3::int8, crashes = t.crashes + $3::int8,
    lease_expires_at = NULL, progress = NULL
FROM unnest($1::uuid[], $2::int8[]) AS s (task_id, version)
WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = s.task_id AND t.version = s.version
  AND t.status COLLATE "C" = 'running'
RETURNING t.task_id)";

/// What the attempts of one outcome have in common: the arrays of their statement.
struct Group {
  std::vector<TaskId> ids;
  std::vector<std::int64_t> versions;
  std::vector<std::optional<std::string>> texts;  ///< result or error
  std::vector<std::optional<std::string>> waits;

  void add(const Lease& lease) {
    ids.push_back(lease.id);
    versions.push_back(lease.version);
  }
  [[nodiscard]] bool empty() const noexcept { return ids.empty(); }
  [[nodiscard]] Parameters leases() const {
    Parameters parameters;
    parameters.add(std::span<const TaskId>{ids}).add(std::span<const std::int64_t>{versions});
    return parameters;
  }
};

Query complete(const Group& group) {
  Query query{sql::kComplete, group.leases()};
  query.parameters.add(std::span<const std::optional<std::string>>{group.texts});
  return query;
}

Query fail(const Group& group, std::int64_t crashed) {
  Query query{kFail.c_str(), group.leases()};
  query.parameters.add(std::span<const std::optional<std::string>>{group.texts}).add(crashed);
  return query;
}

Query wait_again(const Group& group, std::int64_t attempts_back, std::int64_t crashed) {
  Query query{kWaitAgain.c_str(), group.leases()};
  query.parameters.add(std::span<const std::optional<std::string>>{group.texts})
      .add(std::span<const std::optional<std::string>>{group.waits})
      .add(attempts_back)
      .add(crashed);
  return query;
}

Query cancel(const Group& group, std::int64_t crashed) {
  Query query{kCancel, group.leases()};
  query.parameters.add(crashed);
  return query;
}

/// Completed tasks of one bundle.
struct BundledGroup {
  std::vector<TaskId> ids;
  std::vector<Tid> places;
  std::vector<std::string_view> results;
};

Query complete(TaskId bundle, const BundledGroup& group) {
  Query query{sql::kCompleteBundled};
  query.parameters.add(bundle)
      .add(std::span<const Tid>{group.places})
      .add(std::span<const TaskId>{group.ids})
      .add(std::span<const std::string_view>{group.results});
  return query;
}

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

/// The statements of a batch in which no task comes twice.
struct Round {
  Group completed;
  Group failed;
  Group retried;
  Group released;
  Group cancelled;
  std::vector<TaskId> held;  ///< of the above: by a bundle, or perhaps
  std::map<TaskId, BundledGroup> bundled;

  void add(const Settlement& settlement, const std::optional<Bundles::Spot>& spot) {
    if (const auto* outcome = std::get_if<Completed>(&settlement.outcome); outcome && spot) {
      BundledGroup& group = bundled[spot->bundle];
      group.ids.push_back(settlement.lease.id);
      group.places.push_back(spot->place);
      group.results.emplace_back(outcome->result);
      return;
    }
    if (spot) held.push_back(settlement.lease.id);
    add(settlement);
  }

  void add(const Settlement& settlement) {
    std::visit(Overload{[&](const Completed& outcome) {
                          completed.add(settlement.lease);
                          completed.texts.emplace_back(outcome.result);
                        },
                        [&](const Failed& outcome) {
                          failed.add(settlement.lease);
                          failed.texts.emplace_back(to_json(outcome.error));
                        },
                        [&](const Retried& outcome) {
                          retried.add(settlement.lease);
                          retried.texts.emplace_back(to_json(outcome.error));
                          retried.waits.emplace_back(std::to_string(outcome.after.count()));
                        },
                        [&](const CancelHonoured&) { cancelled.add(settlement.lease); },
                        [&](const Released& outcome) {
                          released.add(settlement.lease);
                          released.texts.emplace_back(std::nullopt);
                          released.waits.push_back(
                              outcome.after ? std::optional{std::to_string(outcome.after->count())}
                                            : std::nullopt);
                        }},
               settlement.outcome);
  }
};

/// Runs what there is of the queries; returns the tasks they changed.
class Changer {
 public:
  /// `first`: run before the others, in the same transaction.
  Changer(Connection& connection, Changes& changes, std::vector<Query> first)
      : connection_{connection},
        changes_{changes},
        queries_{std::move(first)},
        final_(queries_.size()) {}

  void add(Query query, bool final) {
    queries_.push_back(std::move(query));
    final_.push_back(final);
  }

  std::vector<TaskId> run() {
    std::vector<TaskId> changed;
    if (queries_.size() == first_) return changed;
    const std::vector<Result> results = connection_.run(queries_);
    for (std::size_t i = first_; i < results.size(); ++i) {
      for (int row = 0; row < results[i].rows(); ++row) {
        const TaskId id = results[i].task_id(row, 0);
        changed.push_back(id);
        if (final_[i] || results[i].boolean(row, 1)) {
          changes_.final_tasks.push_back(id);
        } else {
          changes_.work = true;
        }
      }
    }
    return changed;
  }

 private:
  Connection& connection_;
  Changes& changes_;
  std::vector<Query> queries_;
  std::vector<bool> final_;  ///< for each: whether its tasks end
  const std::size_t first_ = queries_.size();
};

}  // namespace

std::vector<SettleStatus> Settler::settle(std::span<const Settlement> settlements, bool once_each,
                                          bool materialize) {
  std::vector<std::optional<Bundles::Spot>> spots(settlements.size());
  if (!materialize) {
    std::vector<Lease> leases;
    leases.reserve(settlements.size());
    for (const Settlement& settlement : settlements) leases.push_back(settlement.lease);
    spots = bundles_.find(leases);
  }
  std::vector<SettleStatus> statuses(settlements.size(), SettleStatus::lease_lost);
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < settlements.size(); ++i) left.push_back(i);
  while (!left.empty()) {
    Round round;
    std::unordered_set<TaskId> seen;
    std::vector<std::size_t> now;
    std::vector<std::size_t> later;
    for (const std::size_t i : left) {
      const TaskId id = settlements[i].lease.id;
      const bool first = once_each || seen.insert(id).second;
      (first ? now : later).push_back(i);
      if (!first) continue;
      round.add(settlements[i], spots[i]);
      if (materialize) round.held.push_back(id);
    }
    std::vector<Query> before = settings_;
    if (const std::vector<TaskId> spent = bundles_.take_spent(); !spent.empty()) {
      before.push_back(Query{sql::kDropBundles});
      before.back().parameters.add(std::span<const TaskId>{spent});
    }
    if (!round.held.empty()) {
      before.push_back(Query{sql::kMaterialize});
      before.back().parameters.add(std::span<const TaskId>{round.held});
    }
    Changer changer{connection_, changes_, std::move(before)};
    for (const auto& [bundle, group] : round.bundled) changer.add(complete(bundle, group), true);
    if (!round.completed.empty()) changer.add(complete(round.completed), true);
    if (!round.failed.empty()) changer.add(fail(round.failed, 0), true);
    if (!round.retried.empty()) changer.add(wait_again(round.retried, 0, 0), false);
    if (!round.released.empty()) changer.add(wait_again(round.released, 1, 0), false);
    if (!round.cancelled.empty()) changer.add(cancel(round.cancelled, 0), true);
    const std::vector<TaskId> changed = changer.run();
    const bool all = changed.size() == now.size();  // as mostly: nothing has to be looked up
    const auto some = all ? std::unordered_set<TaskId>{}
                          : std::unordered_set<TaskId>{changed.begin(), changed.end()};
    for (const std::size_t i : now) {
      if (all || some.contains(settlements[i].lease.id)) statuses[i] = SettleStatus::settled;
    }
    left = std::move(later);
  }
  return statuses;
}

void Settler::rescue(std::span<const Loss> losses) {
  Group failed;
  Group retried;
  Group cancelled;
  for (const Loss& loss : losses) {
    if (loss.status == TaskStatus::cancelled) {
      cancelled.add(loss.lease);
      continue;
    }
    Group& group = loss.status == TaskStatus::failed ? failed : retried;
    group.add(loss.lease);
    group.texts.emplace_back(to_json(loss.error));
    group.waits.emplace_back(std::nullopt);
  }
  Changer changer{connection_, changes_, settings_};
  if (!failed.empty()) changer.add(fail(failed, 1), true);
  if (!retried.empty()) changer.add(wait_again(retried, 1, 1), false);
  if (!cancelled.empty()) changer.add(cancel(cancelled, 1), true);
  changer.run();
}

}  // namespace errand::postgres
