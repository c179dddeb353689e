#include "engine/postgres/claimer.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "errand/errors.hpp"

#include "core/stored_json.hpp"
#include "engine/postgres/held_statements.hpp"
#include "engine/postgres/statements.hpp"

namespace errand::postgres {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

static_assert(kSuspectCrashes == 2, "the statements and two partial indexes say so, too");
static_assert(Claimer::kBundleFrom == 50, "kBundle says so, too");

/// After a turn that did not come: many wait, or the one whose turn it is was stopped.
constexpr std::chrono::seconds kWithoutTurns{5};

// Columns of the statements that claim.
constexpr int kNextDue = 14;
constexpr int kTook = 15;

// Of kReadBundle, behind those that both have.
constexpr int kTid = 14;

Query claim_query(const char* sql, const std::string& queue, std::size_t limit,
                  std::int64_t suspects_or_priority, const ClaimRequest& request) {
  Query query{sql};
  query.parameters.add(queue)
      .add(static_cast<std::int64_t>(limit))
      .add(suspects_or_priority)
      .add(std::int64_t{request.lease.count()})
      .add(request.worker);
  return query;
}

void add_place(Query& query, const Place& place) {
  query.parameters.add(place.available_at).add(place.seq);
}

bool is_in_doubt(const StorageException& error) {
  return error.retry() == StorageException::Retry::in_doubt;
}

/// Of what followed the commit of a bundle, or may have: the tasks may be held already.
StorageException after_commit(const StorageException& error) {
  const bool useless = error.retry() == StorageException::Retry::useless;
  return {error.what(), useless ? error.retry() : StorageException::Retry::in_doubt};
}

}  // namespace

Claimer::Ranked Claimer::read_claim(const Result& result, int row, const std::string& queue) {
  const int max_retries = result.small_integer(row, 7);
  const int priority = result.small_integer(row, 4);
  return Ranked{
      .claim = Claim{.lease = Lease{result.task_id(row, 0), result.integer(row, 1)},
                     .envelope = Envelope{std::string{result.text(row, 2)},
                                          std::string{result.text(row, 3)},
                                          detail::read_headers(result.optional_text(row, 9))},
                     .queue = queue,
                     .priority = priority,
                     .attempt = result.small_integer(row, 5),
                     .crashes = result.small_integer(row, 6),
                     .retry = detail::read_retry_policy(max_retries, result.optional_text(row, 8)),
                     .submitted_at = result.time(row, 10),
                     .available_at = result.time(row, 12),
                     .cancel_requested = result.boolean(row, 11)},
      .place = Place{.priority = priority,
                     .available_at = result.time(row, 12),
                     .seq = result.integer(row, 13)}};
}

bool Claimer::comes_before(const Ranked& a, const Ranked& b) {
  return std::tie(b.place.priority, a.place.available_at, a.place.seq) <
         std::tie(a.place.priority, b.place.available_at, b.place.seq);
}

/// The server gives rows in any order.
std::vector<Claimer::Ranked> Claimer::read_claims(const Result& result, const std::string& queue) {
  std::vector<Ranked> found;
  found.reserve(static_cast<std::size_t>(result.rows()));
  for (int row = 0; row < result.rows(); ++row) found.push_back(read_claim(result, row, queue));
  // Mostly in that of their places, which is the one asked for.
  if (!std::ranges::is_sorted(found, comes_before)) std::ranges::sort(found, comes_before);
  return found;
}

void Claimer::Claimed::add(Claimed more) {
  next_due = more.next_due;
  const auto middle = static_cast<std::ptrdiff_t>(claims.size());
  claims.insert(claims.end(), std::make_move_iterator(more.claims.begin()),
                std::make_move_iterator(more.claims.end()));
  std::inplace_merge(claims.begin(), claims.begin() + middle, claims.end(), comes_before);
}

std::optional<Place> Claimer::Claimed::first() const {
  for (const Ranked& ranked : claims) {
    if (ranked.claim.crashes < kSuspectCrashes) return ranked.place;
  }
  return std::nullopt;
}

std::optional<Place> Claimer::Claimed::last() const {
  const auto found = std::find_if(claims.rbegin(), claims.rend(), [](const Ranked& ranked) {
    return ranked.claim.crashes < kSuspectCrashes;
  });
  if (found == claims.rend()) return std::nullopt;
  return found->place;
}

Claimer::Wanted Claimer::Wanted::but_for(const Claimed& claimed) const {
  Wanted left = *this;
  left.limit -= claimed.claims.size();
  for (const Ranked& ranked : claimed.claims) {
    if (ranked.claim.crashes >= kSuspectCrashes && left.suspects > 0) --left.suspects;
  }
  return left;
}

ClaimBatch Claimer::claim(const ClaimRequest& request) {
  ClaimBatch batch;
  std::size_t suspects_left = request.suspects;
  for (const std::string& queue : request.queues) {
    const std::size_t room = request.limit - batch.claims.size();
    if (room == 0) break;
    // A transaction for each queue: what was claimed of the first one is ours, whatever happens
    // with the next.
    Claimed claimed;
    try {
      claimed = claim_of_queue({request, queue, room, suspects_left});
    } catch (const StorageException& error) {
      if (batch.claims.empty() || is_in_doubt(error)) throw;
      break;
    }
    for (Ranked& ranked : claimed.claims) {
      if (ranked.claim.crashes >= kSuspectCrashes && suspects_left > 0) --suspects_left;
      batch.claims.push_back(std::move(ranked.claim));
    }
    if (claimed.next_due) {
      batch.next_due = std::min(batch.next_due.value_or(*claimed.next_due), *claimed.next_due);
    }
  }
  if (batch.claims.size() == request.limit) batch.next_due.reset();
  return batch;
}

Claimer::Claimed Claimer::claim_of_queue(const Wanted& wanted) {
  if (wanted.limit < bundle_from_ || !takes_turns()) return claim_rows(wanted);
  const Queue queue = queue_named(wanted.queue);
  Claimed claimed;
  if (!queue.backlog && bundle_from_ > 1) {
    Wanted few = wanted;
    few.limit = bundle_from_ - 1;
    claimed = claim_rows(few);
    if (claimed.claims.size() < few.limit) return claimed;
  }
  try {
    const Wanted left = wanted.but_for(claimed);
    std::optional<Claimed> bundled;
    // Somebody else may have looked from the beginning.
    const std::optional<Place> start =
        bundles_.alone() ? queue.cursor.start(Steady::now()) : queue.cursor.start_if_scanned();
    if (start) {
      bundled = claim_bundle_after(left, *start, queue.cursor);
      if (bundled && !bundled->claims.empty()) {
        // These can begin; the next claim looks what else there is.
        bundled->next_due = milliseconds{0};
        claimed.add(*std::move(bundled));
        return claimed;
      }
    }
    // A turn that did not come is not asked for once more.
    if (!start || bundled) bundled = claim_bundle_from_the_beginning(left);
    const bool is_full = bundled && bundled->claims.size() == left.limit;
    if (bundled) claimed.add(*std::move(bundled));
    // What was tried before, or came since; or when the next one is due.
    if (!is_full) claimed.add(claim_rows_from_the_beginning(wanted.but_for(claimed)));
  } catch (const StorageException& error) {
    // What was claimed before is ours. In doubt more may be: whoever asked looks what it holds.
    if (claimed.claims.empty() || is_in_doubt(error)) throw;
    claimed.next_due = milliseconds{0};
  }
  return claimed;
}

std::optional<Claimer::Claimed> Claimer::claim_bundle_from_the_beginning(const Wanted& wanted) {
  const TaskId bundle = TaskId::generate();
  Query query = claim_query(sql::kBundle, wanted.queue, wanted.limit,
                            static_cast<std::int64_t>(wanted.suspects), wanted.request);
  query.parameters.add(bundle);
  std::optional<Bundled> bundled = claim_bundle(bundle, std::move(query), wanted.queue);
  if (!bundled) return std::nullopt;
  Claimed claimed = std::move(bundled->claimed);
  change_queue(wanted.queue, [&](Queue& it) {
    it.backlog = claimed.claims.size() >= kBundleFrom;
    it.cursor.scanned({.took = claimed.took,
                       .claimed = claimed.claims.size(),
                       .first = claimed.first(),
                       .last = claimed.last(),
                       .next_scan = bundled->next_scan},
                      Steady::now());
  });
  return claimed;
}

std::optional<Claimer::Claimed> Claimer::claim_bundle_after(const Wanted& wanted,
                                                            const Place& start,
                                                            const ClaimCursor& cursor) {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const TaskId bundle = TaskId::generate();
  const auto now = Steady::now();
  Query query =
      claim_query(sql::kBundleAfter, wanted.queue, wanted.limit, start.priority, wanted.request);
  add_place(query, start);
  query.parameters.add(bundle).add(
      std::int64_t{duration_cast<microseconds>(cursor.until_scan(now)).count()});
  std::optional<Bundled> bundled = claim_bundle(bundle, std::move(query), wanted.queue);
  if (!bundled) return std::nullopt;
  Claimed claimed = std::move(bundled->claimed);
  change_queue(wanted.queue, [&](Queue& it) {
    it.backlog = claimed.claims.size() >= kBundleFrom;
    if (bundled->next_scan) it.cursor.scan_is_due(now + *bundled->next_scan);
    if (const std::optional<Place> last = claimed.last()) it.cursor.advanced(*last);
  });
  return claimed;
}

std::optional<Claimer::Bundled> Claimer::claim_bundle(TaskId bundle, Query claim,
                                                      const std::string& queue) {
  std::vector<Query> queries;
  for (const char* statement : sql::kTakeTurn) queries.push_back(Query{statement});
  if (const std::vector<TaskId> spent = bundles_.take_spent(); !spent.empty()) {
    queries.push_back(Query{sql::kDropBundles});
    queries.back().parameters.add(std::span<const TaskId>{spent});
  }
  queries.push_back(std::move(claim));
  queries.push_back(Query{"COMMIT"});
  // After it: whoever waits for his turn does not wait until these are read.
  queries.push_back(Query{sql::kReadBundle});
  queries.back().parameters.add(bundle);
  std::vector<Result> results;
  try {
    results = database_.write([&](Connection& connection, Changes&) {
      try {
        return connection.run(queries);
      } catch (...) {
        Database::roll_back(connection);
        throw;
      }
    });
  } catch (const LockTimeout&) {
    stop_taking_turns();
    return std::nullopt;
  } catch (const StorageException& error) {
    throw after_commit(error);
  }
  Bundled bundled;
  const Result& stored = results.end()[-3];
  if (stored.rows() == 0) return bundled;
  bundled.claimed.took = std::chrono::microseconds{stored.integer(0, 1)};
  bundled.next_scan = std::chrono::microseconds{stored.integer(0, 3)};
  const Result& rows = results.back();
  std::vector<Bundles::Task> tasks;
  tasks.reserve(static_cast<std::size_t>(rows.rows()));
  for (int row = 0; row < rows.rows(); ++row) {
    tasks.push_back({rows.task_id(row, 0), rows.tid(row, kTid)});
  }
  bundled.claimed.claims = read_claims(rows, queue);
  // Somebody was quick: what was asked to stop is ours nevertheless, in a row of its own.
  if (rows.rows() < stored.integer(0, 0)) {
    Claimed more = read_materialized(bundle, queue);
    // It may have happened to others since these were read.
    std::unordered_set<TaskId> known;
    for (const Bundles::Task& task : tasks) known.insert(task.id);
    std::erase_if(more.claims,
                  [&](const Ranked& ranked) { return known.contains(ranked.claim.lease.id); });
    bundled.claimed.add(std::move(more));
  }
  bundles_.add(bundle, tasks);
  bundles_.set_alone(stored.boolean(0, 2));
  return bundled;
}

Claimer::Claimed Claimer::read_materialized(TaskId bundle, const std::string& queue) {
  Query query{sql::kReadMaterialized};
  query.parameters.add(bundle);
  try {
    const Result result =
        database_.read([&](Connection& connection) { return connection.run(std::move(query)); });
    return Claimed{.claims = read_claims(result, queue)};
  } catch (const StorageException& error) {
    throw after_commit(error);
  }
}

Claimer::Claimed Claimer::claim_rows(const Wanted& wanted) {
  const ClaimCursor cursor = queue_named(wanted.queue).cursor;
  if (const std::optional<Place> start = cursor.start(Steady::now())) {
    Query query =
        claim_query(sql::kClaimAfter, wanted.queue, wanted.limit, start->priority, wanted.request);
    add_place(query, *start);
    Claimed claimed = run(std::move(query), wanted.queue);
    if (const std::optional<Place> last = claimed.last()) {
      change_queue(wanted.queue, [&](Queue& it) { it.cursor.advanced(*last); });
      // These can begin; the next claim looks what else there is.
      claimed.next_due = milliseconds{0};
      return claimed;
    }
  }
  Claimed claimed = claim_rows_from_the_beginning(wanted);
  change_queue(wanted.queue, [&](Queue& it) {
    it.cursor.scanned({.took = claimed.took,
                       .claimed = claimed.claims.size(),
                       .first = claimed.first(),
                       .last = claimed.last()},
                      Steady::now());
  });
  return claimed;
}

Claimer::Claimed Claimer::claim_rows_from_the_beginning(const Wanted& wanted) {
  Claimed claimed = run(claim_query(sql::kClaim, wanted.queue, wanted.limit,
                                    static_cast<std::int64_t>(wanted.suspects), wanted.request),
                        wanted.queue);
  if (claimed.claims.empty()) claimed.next_due = next_due(wanted);
  return claimed;
}

std::optional<milliseconds> Claimer::next_due(const Wanted& wanted) {
  std::vector<Query> queries = database_.transaction_settings();
  queries.push_back(Query{sql::kNextDue});
  queries.back().parameters.add(wanted.queue).add(static_cast<std::int64_t>(wanted.suspects));
  const Result result = database_.read(
      [&](Connection& connection) { return std::move(connection.run(queries).back()); });
  if (result.rows() == 0 || result.is_null(0, 0)) return std::nullopt;
  return std::chrono::ceil<milliseconds>(std::chrono::microseconds{result.integer(0, 0)});
}

Claimer::Claimed Claimer::run(Query query, const std::string& queue) {
  std::vector<Query> queries = database_.transaction_settings();
  if (const std::vector<TaskId> spent = bundles_.take_spent(); !spent.empty()) {
    queries.push_back(Query{sql::kDropBundles});
    queries.back().parameters.add(std::span<const TaskId>{spent});
  }
  queries.push_back(std::move(query));
  const Result result = database_.write(
      [&](Connection& connection, Changes&) { return std::move(connection.run(queries).back()); });
  Claimed claimed;
  if (result.rows() > 0) {
    claimed.took = std::chrono::microseconds{result.integer(0, kTook)};
    if (!result.is_null(0, kNextDue)) {
      claimed.next_due =
          std::chrono::ceil<milliseconds>(std::chrono::microseconds{result.integer(0, kNextDue)});
    }
  }
  claimed.claims = read_claims(result, queue);
  return claimed;
}

bool Claimer::takes_turns() {
  // Who waits behind a pooler keeps a session from the others.
  if (!database_.settings().connection.prepare) return false;
  const std::lock_guard lock{mutex_};
  return Steady::now() >= turns_from_;
}

void Claimer::stop_taking_turns() {
  const std::lock_guard lock{mutex_};
  turns_from_ = Steady::now() + kWithoutTurns;
}

Claimer::Queue Claimer::queue_named(const std::string& queue) {
  const std::lock_guard lock{mutex_};
  return queues_[queue];
}

template <class Change>
void Claimer::change_queue(const std::string& queue, Change&& change) {
  const std::lock_guard lock{mutex_};
  change(queues_[queue]);
}

}  // namespace errand::postgres
