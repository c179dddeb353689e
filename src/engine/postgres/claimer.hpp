#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "errand/task_queue.hpp"

#include "engine/postgres/claim_cursor.hpp"
#include "engine/postgres/database.hpp"

namespace errand::postgres {

/// Gets tasks out of queues. Thread-safe.
class Claimer {
 public:
  explicit Claimer(Database& database) : database_{database} {}

  [[nodiscard]] ClaimBatch claim(const ClaimRequest& request);

 private:
  struct Claimed {
    std::vector<Claim> claims;
    std::optional<Place> first{};  ///< of those that are no suspects
    std::optional<Place> last{};
    std::optional<std::chrono::milliseconds> next_due;
    std::chrono::microseconds took{0};  ///< in the server
  };

  Claimed claim_of_queue(const ClaimRequest& request, const std::string& queue, std::size_t limit,
                         std::size_t suspects);
  /// Where nothing was claimed.
  std::optional<std::chrono::milliseconds> next_due(const std::string& queue, std::size_t suspects);
  Claimed run(const Query& query, const std::string& queue, std::size_t limit);

  [[nodiscard]] bool takes_turns();
  void stop_taking_turns();

  ClaimCursor cursor_of(const std::string& queue);
  template <class Change>
  void change_cursor(const std::string& queue, Change&& change);

  Database& database_;
  std::mutex mutex_;
  std::unordered_map<std::string, ClaimCursor> cursors_;  ///< of the queues claimed from
  std::chrono::steady_clock::time_point turns_from_{};
};

}  // namespace errand::postgres
