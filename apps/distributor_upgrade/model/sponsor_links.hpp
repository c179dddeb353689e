#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

struct TeamSize {
  std::int64_t direct = 0;  ///< those sponsored
  std::int64_t whole = 0;   ///< those, and all below them; never the one whose team it is
};

/// Who sponsors whom, of everybody at one moment. What is asked of all is worked out in one pass
/// from the bottom up: asking for one team after the other would walk a long line of sponsors again
/// for each of them. Some 40 bytes for each distributor. Immutable.
class SponsorLinks {
 public:
  struct Link {
    std::int64_t id = 0;
    std::optional<std::int64_t> sponsor_id{};  ///< somebody who is not there is none
  };

  /// `links` are sorted by id.
  explicit SponsorLinks(const std::vector<Link>& links);

  [[nodiscard]] static SponsorLinks load(Session& session);

  /// No team, for somebody who is not there.
  [[nodiscard]] TeamSize team_size(std::int64_t id) const;

  /// No program of ours makes sponsors a ring, where each is above and below the others. Of each
  /// there is, the lowest id.
  [[nodiscard]] const std::vector<std::int64_t>& rings() const noexcept { return rings_; }

 private:
  std::vector<std::int64_t> ids_;
  std::vector<TeamSize> sizes_;  ///< in the order of ids_
  std::vector<std::int64_t> rings_;
};

}  // namespace errand::distributors
