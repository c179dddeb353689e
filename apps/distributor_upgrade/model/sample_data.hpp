#pragma once

#include <cstdint>
#include <functional>

#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

/// A few people with names, a ladder of five levels, and withdrawals of which one or two are about
/// to make a difference. Throws NotPossible if there are levels already.
void add_readable_sample(Database& database);

/// `count` distributors, each sponsored by a random earlier one, with up to three completed
/// withdrawals each; the same every time. `progress` is told how many there are so far.
void add_crowd(Database& database, std::int64_t count,
               const std::function<void(std::int64_t)>& progress);

}  // namespace errand::distributors
