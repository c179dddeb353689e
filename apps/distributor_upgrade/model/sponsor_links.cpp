#include "distributor_upgrade/model/sponsor_links.hpp"

#include <algorithm>
#include <cstddef>

namespace errand::distributors {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

std::size_t position_of(const std::vector<std::int64_t>& ids, std::int64_t id) {
  const auto found = std::ranges::lower_bound(ids, id);
  if (found == ids.end() || *found != id) return kNone;
  return static_cast<std::size_t>(found - ids.begin());
}

}  // namespace

SponsorLinks::SponsorLinks(const std::vector<Link>& links) : sizes_(links.size()) {
  ids_.reserve(links.size());
  for (const Link& link : links) ids_.push_back(link.id);
  std::vector<std::size_t> sponsors(links.size(), kNone);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!links[i].sponsor_id) continue;
    sponsors[i] = position_of(ids_, *links[i].sponsor_id);
    if (sponsors[i] != kNone) ++sizes_[sponsors[i]].direct;
  }

  // Whoever has a complete team is added to the sponsor's, those without a team first.
  std::vector<std::int64_t> missing;
  std::vector<std::size_t> complete;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    missing.push_back(sizes_[i].direct);
    if (sizes_[i].direct == 0) complete.push_back(i);
  }
  while (!complete.empty()) {
    const std::size_t member = complete.back();
    complete.pop_back();
    const std::size_t sponsor = sponsors[member];
    if (sponsor == kNone) continue;
    sizes_[sponsor].whole += sizes_[member].whole + 1;
    if (--missing[sponsor] == 0) complete.push_back(sponsor);
  }

  // What is left are rings: in each, everybody's team is all of them and all their teams.
  for (std::size_t first = 0; first < missing.size(); ++first) {
    if (missing[first] == 0) continue;
    rings_.push_back(ids_[first]);
    std::int64_t everybody = 0;
    std::size_t member = first;
    do {
      everybody += sizes_[member].whole + 1;
      member = sponsors[member];
    } while (member != first);
    do {
      sizes_[member].whole = everybody - 1;
      missing[member] = 0;
      member = sponsors[member];
    } while (member != first);
  }
}

SponsorLinks SponsorLinks::load(Session& session) {
  constexpr std::int64_t kPage = 20'000;
  std::vector<Link> links;
  while (true) {
    const Answer page =
        session.run("SELECT id, sponsor_id FROM distributor WHERE id > $1 ORDER BY id LIMIT $2",
                    {links.empty() ? std::int64_t{0} : links.back().id, kPage});
    if (page.rows.empty()) return SponsorLinks{links};
    for (const Row& row : page.rows) links.push_back({row[0].number(), row[1].optional_number()});
  }
}

TeamSize SponsorLinks::team_size(std::int64_t id) const {
  const std::size_t position = position_of(ids_, id);
  return position == kNone ? TeamSize{} : sizes_[position];
}

}  // namespace errand::distributors
