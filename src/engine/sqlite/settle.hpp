#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "errand/task_queue.hpp"

#include "engine/sqlite/connection.hpp"
#include "engine/sqlite/database.hpp"

namespace errand::sqlite {

/// Ends attempts, one by one, inside a transaction of the caller's.
class Settler {
 public:
  Settler(Connection& connection, Changes& changes, Timestamp now);

  /// False: the lease was lost, and nothing changed.
  bool settle(const Settlement& settlement);

  /// Takes the task from a lost worker. `status`: retrying, failed or cancelled.
  void rescue(const Lease& lease, TaskStatus status, const ExceptionData& error);

 private:
  bool complete(const Lease& lease, const Completed& outcome);
  bool fail(const Lease& lease, const ExceptionData& error, int crashed);
  /// `after` nullopt: in its old place of the queue.
  bool wait_again(const Lease& lease, const ExceptionData* error,
                  std::optional<std::chrono::milliseconds> after, int attempts_back, int crashed);
  bool cancel(const Lease& lease, bool only_if_requested, int attempts_back, int crashed);
  bool changed_one(const Lease& lease, bool final);

  Connection& connection_;
  Changes& changes_;
  Timestamp now_;
  std::string now_text_;
  std::string now_iso_;
};

}  // namespace errand::sqlite
