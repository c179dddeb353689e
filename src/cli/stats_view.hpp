#pragma once

#include <iosfwd>
#include <vector>

#include "errand/task_catalog.hpp"
#include "errand/timestamp.hpp"
#include "errand/worker_registry.hpp"

#include "app/operator_json.hpp"
#include "terminal/screen.hpp"

/// Counts, queues and workers, for programs and for people.
namespace errand::cli {

using detail::to_json;

/// The tables say so in words where there is nothing to show.
void print_queues(std::ostream& out, const std::vector<QueueStats>& queues,
                  const terminal::Screen& screen);
void print_workers(std::ostream& out, const std::vector<WorkerInfo>& workers, Timestamp now,
                   const terminal::Screen& screen);

}  // namespace errand::cli
