#pragma once

#include <span>
#include <vector>

#include "errand/task_queue.hpp"

#include "engine/postgres/bundles.hpp"
#include "engine/postgres/database.hpp"

namespace errand::postgres {

/// A task whose lease ran out, and what becomes of it.
struct Loss {
  Lease lease;
  TaskStatus status;
  ExceptionData error;
};

/// Ends attempts inside the current transaction, all of one outcome by one statement.
class Settler {
 public:
  /// `settings`: what must come first in a transaction, see Database::transaction_settings().
  Settler(Connection& connection, Changes& changes, std::vector<Query> settings, Bundles& bundles)
      : connection_{connection},
        changes_{changes},
        settings_{std::move(settings)},
        bundles_{bundles} {}

  /// One status for each, in order. One round trip, unless a task comes more than once; `once_each`
  /// says that none does.
  /// `materialize`: whatever a bundle holds of them is settled by its id; otherwise what this
  /// process has claimed in bundles is known, and completed where it is.
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements, bool once_each,
                                   bool materialize);

  /// Their rows are locked.
  void rescue(std::span<const Loss> losses);

 private:
  Connection& connection_;
  Changes& changes_;
  std::vector<Query> settings_;
  Bundles& bundles_;
};

}  // namespace errand::postgres
