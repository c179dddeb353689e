#include "cli/stats_view.hpp"

#include <fmt/ostream.h>
#include <string>

#include "cli/colour.hpp"
#include "cli/table.hpp"
#include "cli/wording.hpp"

namespace errand::cli {

void print_queues(std::ostream& out, const std::vector<QueueStats>& queues, const Screen& screen) {
  if (queues.empty()) {
    fmt::print(out, "{}\n", paint("No queue has open tasks or is paused", Colour::dim, screen));
    return;
  }
  using enum Column::Align;
  Table table{{{.title = "QUEUE", .may_shrink = true},
               {.title = "STATE"},
               {.title = "DUE", .align = right},
               {.title = "DELAYED", .align = right},
               {.title = "RUNNING", .align = right},
               {.title = "OLDEST DUE", .align = right}}};
  for (const QueueStats& queue : queues) {
    table.add_row(
        {queue.queue, queue.paused ? Cell{"paused", Colour::yellow} : Cell{"open", Colour::green},
         format_count(queue.due), format_count(queue.delayed), format_count(queue.running),
         queue.oldest_due ? format_span(*queue.oldest_due) : ""});
  }
  table.print(out, screen);
}

void print_workers(std::ostream& out, const std::vector<WorkerInfo>& workers, Timestamp now,
                   const Screen& screen) {
  if (workers.empty()) {
    fmt::print(out, "{}\n", paint("No worker is running: errand worker", Colour::dim, screen));
    return;
  }
  using enum Column::Align;
  Table table{{{.title = "WORKER", .may_shrink = true},
               {.title = "QUEUES", .may_shrink = true},
               {.title = "BUSY", .align = right},
               {.title = "HANDLED", .align = right},
               {.title = "FAILED", .align = right},
               {.title = "UP", .align = right, .may_drop = true},
               {.title = "SEEN", .align = right}}};
  for (const WorkerInfo& worker : workers) {
    table.add_row({worker.worker, fmt::format("{}", fmt::join(worker.queues, ",")),
                   fmt::format("{}/{}", worker.running, worker.concurrency),
                   format_count(worker.handled), format_count(worker.failed),
                   format_short_age(worker.started_at, now),
                   format_short_age(worker.seen_at, now) + " ago"});
  }
  table.print(out, screen);
}

}  // namespace errand::cli
