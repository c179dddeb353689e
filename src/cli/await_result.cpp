#include "cli/await_result.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

#include "errand/errors.hpp"

#include "cli/json_output.hpp"
#include "cli/live_line.hpp"
#include "cli/progress_bar.hpp"
#include "cli/wording.hpp"
#include "terminal/display.hpp"

namespace errand::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kRedraw{250};

bool is_served(Engine& engine, const std::string& queue) {
  for (const WorkerInfo& worker : engine.workers().workers()) {
    if (std::ranges::find(worker.queues, queue) != worker.queues.end()) return true;
  }
  return false;
}

std::string describe(const TaskRecord& task, milliseconds waited, Engine& engine) {
  std::string text =
      fmt::format("{} · {}", to_string(task.data.status),
                  format_span(std::chrono::duration_cast<std::chrono::seconds>(waited)));
  if (task.attempts > 1) text += fmt::format(" · attempt {}", task.attempts);
  if (task.progress) text += " · " + format_progress(*task.progress);
  if (task.data.status == TaskStatus::retrying && task.available_at) {
    text += " · next attempt " + format_age(*task.available_at, system_clock().now());
  }
  if (is_waiting(task.data.status) && task.queue && !is_served(engine, *task.queue)) {
    text += fmt::format(" · no worker serves queue '{}'", terminal::printable(*task.queue));
  }
  return text;
}

/// Shows what the task does until it is final, or `timeout` has passed: false.
bool watch(Application& app, const TaskHandle& task, std::optional<milliseconds> timeout,
           Console& console) {
  LiveLine line{console.err, console.err_screen};
  const auto begin = steady_clock::now();
  const auto waited = [&] {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
  };
  while (true) {
    const milliseconds slice =
        timeout ? std::clamp(*timeout - waited(), milliseconds{0}, kRedraw) : kRedraw;
    if (task.wait(slice)) return true;
    if (timeout && waited() >= *timeout) return false;
    if (const auto record = app.engine().catalog().find(task.id())) {
      line.show(describe(*record, waited(), app.engine()));
    }
  }
}

}  // namespace

std::string await_result(Application& app, TaskId id, std::optional<milliseconds> timeout,
                         Console& console) {
  const TaskHandle task{app.tasks(), id};
  const bool finished = console.err_screen.is_terminal ? watch(app, task, timeout, console)
                                                       : task.wait(timeout);
  if (!finished) {
    throw TimeoutException{fmt::format(
        "task {0} is not finished in time; it goes on, and errand wait {0} waits for it "
        "again",
        id.to_string())};
  }
  return task.get_json();
}

ExitCode print_result(Application& app, TaskId id, std::optional<milliseconds> timeout,
                      Console& console) {
  std::string result;
  try {
    result = await_result(app, id, timeout, console);
  } catch (const StorageException&) {
    throw;
  } catch (const Error&) {
    return report(std::current_exception(), console);
  }
  print_json(console, result);
  console.out.flush();
  return ExitCode::done;
}

}  // namespace errand::cli
