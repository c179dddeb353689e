#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "errand/task_queue.hpp"

namespace errand::testing {

/// A claimed task as a test of the worker's parts needs it.
[[nodiscard]] inline Claim claim_of(Envelope envelope, int attempt = 1) {
  return Claim{.lease = Lease{TaskId::generate(), 1},
               .envelope = std::move(envelope),
               .queue = kDefaultQueue,
               .attempt = attempt};
}

[[nodiscard]] inline Claim some_claim() { return claim_of(Envelope{"a.type", "1"}); }

[[nodiscard]] inline Claim suspect_claim() {
  Claim claim = some_claim();
  claim.crashes = kSuspectCrashes;
  return claim;
}

/// The same task, claimed again by whoever rescued it.
[[nodiscard]] inline Claim claimed_again(const Claim& claim) {
  Claim again = claim;
  again.lease.version += 2;
  again.crashes += 1;
  return again;
}

}  // namespace errand::testing
