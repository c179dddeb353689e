#include "engine/postgres/claimer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "errand/errors.hpp"

#include "core/stored_json.hpp"
#include "engine/postgres/statements.hpp"

namespace errand::postgres {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

static_assert(kSuspectCrashes == 2, "the statements and two partial indexes say so, too");

/// Claims of fewer tasks do not wait for their turn: passing over others' rows costs less.
constexpr std::size_t kTurnFrom = 50;

/// After a turn that did not come: many wait, or the one whose turn it is was stopped.
constexpr std::chrono::seconds kWithoutTurns{5};

// Columns of the statements that claim.
constexpr int kNextDue = 14;
constexpr int kTook = 15;

/// RETURNING gives rows in any order; this holds what they were chosen by.
struct Ranked {
  Claim claim;
  Place place;
};

Ranked read_claim(const Result& result, int row, const std::string& queue) {
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

bool comes_before(const Ranked& a, const Ranked& b) {
  return std::tie(b.place.priority, a.place.available_at, a.place.seq) <
         std::tie(a.place.priority, b.place.available_at, b.place.seq);
}

}  // namespace

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
      claimed = claim_of_queue(request, queue, room, suspects_left);
    } catch (const StorageException&) {
      if (batch.claims.empty()) throw;
      break;
    }
    for (Claim& claim : claimed.claims) {
      if (claim.crashes >= kSuspectCrashes && suspects_left > 0) --suspects_left;
      batch.claims.push_back(std::move(claim));
    }
    if (claimed.next_due) {
      batch.next_due = std::min(batch.next_due.value_or(*claimed.next_due), *claimed.next_due);
    }
  }
  if (batch.claims.size() == request.limit) batch.next_due.reset();
  return batch;
}

Claimer::Claimed Claimer::claim_of_queue(const ClaimRequest& request, const std::string& queue,
                                         std::size_t limit, std::size_t suspects) {
  const auto began = Steady::now();
  const ClaimCursor cursor = cursor_of(queue);
  if (const std::optional<Place> start = cursor.start(began)) {
    Query query{sql::kClaimAfter};
    query.parameters.add(queue)
        .add(static_cast<std::int64_t>(limit))
        .add(std::int64_t{start->priority})
        .add(std::int64_t{request.lease.count()})
        .add(request.worker)
        .add(start->available_at)
        .add(start->seq);
    Claimed claimed = run(query, queue, limit);
    if (claimed.last) {
      change_cursor(queue, [&](ClaimCursor& it) { it.advanced(*claimed.last); });
      // These can begin; the next claim looks what else there is.
      claimed.next_due = milliseconds{0};
      return claimed;
    }
  }
  Query query{sql::kClaim};
  query.parameters.add(queue)
      .add(static_cast<std::int64_t>(limit))
      .add(static_cast<std::int64_t>(suspects))
      .add(std::int64_t{request.lease.count()})
      .add(request.worker);
  Claimed claimed = run(query, queue, limit);
  if (claimed.claims.empty()) claimed.next_due = next_due(queue, suspects);
  change_cursor(queue, [&](ClaimCursor& it) {
    it.scanned({.took = claimed.took,
                .claimed = claimed.claims.size(),
                .first = claimed.first,
                .last = claimed.last},
               Steady::now());
  });
  return claimed;
}

std::optional<milliseconds> Claimer::next_due(const std::string& queue, std::size_t suspects) {
  std::vector<Query> queries = database_.transaction_settings();
  queries.push_back(Query{sql::kNextDue});
  queries.back().parameters.add(queue).add(static_cast<std::int64_t>(suspects));
  const Result result = database_.read(
      [&](Connection& connection) { return std::move(connection.run(queries).back()); });
  if (result.rows() == 0 || result.is_null(0, 0)) return std::nullopt;
  return std::chrono::ceil<milliseconds>(std::chrono::microseconds{result.integer(0, 0)});
}

Claimer::Claimed Claimer::run(const Query& query, const std::string& queue, std::size_t limit) {
  const auto run_query = [&](bool in_turn) {
    std::vector<Query> queries = database_.transaction_settings();
    if (!in_turn) {
      queries.push_back(query);
      return database_.write([&](Connection& connection, Changes&) {
        return std::move(connection.run(queries).back());
      });
    }
    for (const char* statement : sql::kTakeTurn) queries.push_back(Query{statement});
    queries.push_back(query);
    queries.push_back(Query{"COMMIT"});
    return database_.write([&](Connection& connection, Changes&) {
      try {
        return std::move(connection.run(queries).end()[-2]);
      } catch (...) {
        Database::roll_back(connection);
        throw;
      }
    });
  };
  const Result result = [&] {
    if (limit < kTurnFrom || !takes_turns()) return run_query(false);
    try {
      return run_query(true);
    } catch (const LockTimeout&) {
      stop_taking_turns();
      return run_query(false);
    }
  }();
  std::vector<Ranked> found;
  found.reserve(static_cast<std::size_t>(result.rows()));
  Claimed claimed;
  for (int row = 0; row < result.rows(); ++row) {
    found.push_back(read_claim(result, row, queue));
    if (row == 0) claimed.took = std::chrono::microseconds{result.integer(row, kTook)};
    if (row == 0 && !result.is_null(row, kNextDue)) {
      claimed.next_due =
          std::chrono::ceil<milliseconds>(std::chrono::microseconds{result.integer(row, kNextDue)});
    }
  }
  std::sort(found.begin(), found.end(), comes_before);
  claimed.claims.reserve(found.size());
  for (Ranked& ranked : found) {
    // Suspects are claimed from the beginning only.
    if (ranked.claim.crashes < kSuspectCrashes) {
      if (!claimed.first) claimed.first = ranked.place;
      claimed.last = ranked.place;
    }
    claimed.claims.push_back(std::move(ranked.claim));
  }
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

ClaimCursor Claimer::cursor_of(const std::string& queue) {
  const std::lock_guard lock{mutex_};
  return cursors_[queue];
}

template <class Change>
void Claimer::change_cursor(const std::string& queue, Change&& change) {
  const std::lock_guard lock{mutex_};
  change(cursors_[queue]);
}

}  // namespace errand::postgres
