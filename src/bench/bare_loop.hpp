#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "errand/dsn.hpp"

#include "bench/stopwatch.hpp"

namespace errand::bench {

/// The engine's own statements driven by a plain loop on the client library: what there is to
/// reach. One thread, no checks, no typed messages, no futures, no turns, no leases to keep.
class BareLoop {
 public:
  virtual ~BareLoop() = default;

  /// Submits `count` tasks of `payload`, `batch` to a transaction.
  virtual void submit(std::size_t count, std::size_t batch, const std::string& payload) = 0;

  /// Claims and completes, `batch` to a transaction, until none is left; returns how many. Notes
  /// when the first ones are there.
  virtual std::size_t drain(std::size_t batch, FirstTime& first_claimed) = 0;
};

/// `queue`: where its tasks wait, apart from all others.
[[nodiscard]] std::unique_ptr<BareLoop> make_bare_loop(const Dsn& dsn, const std::string& queue);

}  // namespace errand::bench
