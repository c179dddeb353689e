#include "cli/stats_view.hpp"

#include <fmt/ostream.h>
#include <string>

#include "terminal/paint.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {

void print_queues(std::ostream& out, const std::vector<QueueStats>& queues,
                  const terminal::Screen& screen) {
  if (queues.empty()) {
    fmt::print(out, "{}\n",
               paint("No queue has open tasks or is paused", terminal::Colour::dim, screen));
    return;
  }
  using enum terminal::Column::Align;
  terminal::Table table{{{.title = "QUEUE", .may_shrink = true},
                         {.title = "STATE"},
                         {.title = "DUE", .align = right},
                         {.title = "DELAYED", .align = right},
                         {.title = "RUNNING", .align = right},
                         {.title = "OLDEST DUE", .align = right}}};
  for (const QueueStats& queue : queues) {
    table.add_row({queue.queue,
                   queue.paused ? terminal::Cell{"paused", terminal::Colour::yellow}
                                : terminal::Cell{"open", terminal::Colour::green},
                   terminal::format_count(queue.due), terminal::format_count(queue.delayed),
                   terminal::format_count(queue.running),
                   queue.oldest_due ? terminal::format_span(*queue.oldest_due) : ""});
  }
  table.print(out, screen);
}

void print_workers(std::ostream& out, const std::vector<WorkerInfo>& workers, Timestamp now,
                   const terminal::Screen& screen) {
  if (workers.empty()) {
    fmt::print(out, "{}\n",
               paint("No worker is running: errand worker", terminal::Colour::dim, screen));
    return;
  }
  using enum terminal::Column::Align;
  terminal::Table table{{{.title = "WORKER", .may_shrink = true},
                         {.title = "QUEUES", .may_shrink = true},
                         {.title = "BUSY", .align = right},
                         {.title = "HANDLED", .align = right},
                         {.title = "FAILED", .align = right},
                         {.title = "UP", .align = right, .may_drop = true},
                         {.title = "SEEN", .align = right}}};
  for (const WorkerInfo& worker : workers) {
    table.add_row({worker.worker, fmt::format("{}", fmt::join(worker.queues, ",")),
                   fmt::format("{}/{}", worker.running, worker.concurrency),
                   terminal::format_count(worker.handled), terminal::format_count(worker.failed),
                   terminal::format_short_age(worker.started_at, now),
                   terminal::format_short_age(worker.seen_at, now) + " ago"});
  }
  table.print(out, screen);
}

}  // namespace errand::cli
