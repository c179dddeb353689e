#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "errand/task_queue.hpp"

#include "engine/postgres/bundles.hpp"
#include "engine/postgres/claim_cursor.hpp"
#include "engine/postgres/database.hpp"

namespace errand::postgres {

/// Gets tasks out of queues. Thread-safe.
///
/// Where a backlog waits, tasks that nobody has tried yet are claimed as a bundle: one row that
/// names them, while their own rows stay as they are (decision 0040). All others are claimed row by
/// row.
class Claimer {
 public:
  /// Claims of fewer tasks are made row by row. So is the beginning of one of many, unless the last
  /// one found a backlog: where there is none, a bundle would cost more than it saves.
  static constexpr std::size_t kBundleFrom = 50;

  /// `bundle_from`: 1 makes a bundle of whatever can be in one.
  Claimer(Database& database, Bundles& bundles, std::size_t bundle_from)
      : database_{database}, bundles_{bundles}, bundle_from_{bundle_from} {}

  [[nodiscard]] ClaimBatch claim(const ClaimRequest& request);

 private:
  /// A claim and what it was chosen by.
  struct Ranked {
    Claim claim;
    Place place;
  };
  struct Claimed {
    std::vector<Ranked> claims{};  ///< in claiming order
    std::optional<std::chrono::milliseconds> next_due{};
    std::chrono::microseconds took{0};  ///< in the server

    void add(Claimed more);
    /// Of those that are no suspects, which are claimed from the beginning only.
    [[nodiscard]] std::optional<Place> first() const;
    [[nodiscard]] std::optional<Place> last() const;
  };
  /// What to claim of which queue.
  struct Wanted {
    const ClaimRequest& request;
    const std::string& queue;
    std::size_t limit;
    std::size_t suspects;

    [[nodiscard]] Wanted but_for(const Claimed& claimed) const;
  };
  struct Bundled {
    Claimed claimed{};
    std::optional<std::chrono::microseconds> next_scan{};  ///< nothing: neither was claimed
  };
  struct Queue {
    ClaimCursor cursor{};
    bool backlog = false;  ///< the last claim of many found many
  };

  static Ranked read_claim(const Result& result, int row, const std::string& queue);
  static std::vector<Ranked> read_claims(const Result& result, const std::string& queue);
  static bool comes_before(const Ranked& a, const Ranked& b);

  Claimed claim_of_queue(const Wanted& wanted);
  Claimed claim_rows(const Wanted& wanted);
  /// Wherever the last claims ended: what was tried before, and suspects, are there.
  Claimed claim_rows_from_the_beginning(const Wanted& wanted);
  // Nothing: its turn did not come.
  std::optional<Claimed> claim_bundle_from_the_beginning(const Wanted& wanted);
  /// Empty, too, where it is time to begin at the beginning.
  std::optional<Claimed> claim_bundle_after(const Wanted& wanted, const Place& start,
                                            const ClaimCursor& cursor);
  std::optional<Bundled> claim_bundle(TaskId bundle, Query claim, const std::string& queue);
  Claimed read_materialized(TaskId bundle, const std::string& queue);
  /// Where nothing was claimed.
  std::optional<std::chrono::milliseconds> next_due(const Wanted& wanted);
  Claimed run(Query query, const std::string& queue);

  [[nodiscard]] bool takes_turns();
  void stop_taking_turns();

  Queue queue_named(const std::string& queue);
  template <class Change>
  void change_queue(const std::string& queue, Change&& change);

  Database& database_;
  Bundles& bundles_;
  const std::size_t bundle_from_;
  std::mutex mutex_;
  std::unordered_map<std::string, Queue> queues_;  ///< those claimed from
  std::chrono::steady_clock::time_point turns_from_{};
};

}  // namespace errand::postgres
