#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "errand/dsn.hpp"

namespace errand::bench {

struct Plan {
  std::size_t tasks = 20'000;  ///< for the bulk and drain figures; the others take a part of it
  std::size_t backlog = 0;     ///< above 0: measure claims beside so many pending tasks, too
  std::size_t rounds = 3;      ///< of bulk and drain
  std::size_t payload = 200;   ///< bytes of JSON of each task; at least kLeastPayload
  bool bare_first = false;     ///< in odd rounds the bare loop is measured first, else in even ones
  bool storage_calls = true;   ///< false: only what queues do
  bool keep_backlog = false;   ///< true: the storage is thrown away, with the backlog in it
};

/// A payload is a message with addresses and a body; without any body it has this size.
inline constexpr std::size_t kLeastPayload = 64;

/// A figure: rates are tasks a second, `…_ms` are milliseconds.
using Figure = std::pair<std::string, double>;

/// Measures an engine on the storage `dsn` names, in queues of its own, and removes what it made,
/// but for a backlog that is kept.
///
/// - `submit_seq`: one caller, one task at a time; `submit_c50`: 50 threads, one at a time each;
///   `submit_bulk`: 1,000 at a time.
/// - `drain`: no-op tasks a second from a backlog, results stored, one worker in this process; from
/// the
///   first that is handled to the last that is completed.
/// - `e2e_p50_ms`, `e2e_p99_ms`: from the call of submit to the result in the caller's hand, with
///   an idle worker in another process; `start_p50_ms`: from its storage to its start.
/// - `save_p99_ms`, `load_p99_ms`, `update_status_p99_ms`, `remove_p99_ms`: TaskStorage, one
/// caller;
///   `delete_expired_1000_ms`: a thousand expired tasks.
/// - `claim_1000_ms`, `claim_backlog_ms`: a claim of 100 tasks out of 1,000, and out of the
/// backlog.
/// - `limit_…`: the same statements in a bare loop on the client library, in the same run. Rates
///   with a limit are measured in rounds that take turns with it; the median counts.
///
/// `progress` is told what is measured next. If it throws, that is the end: what was made is
/// removed all the same.
[[nodiscard]] std::vector<Figure> measure(const Dsn& dsn, const Plan& plan,
                                          const std::function<void(const std::string&)>& progress);

}  // namespace errand::bench
