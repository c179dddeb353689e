#include "cli/await_result.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <ostream>

#include "errand/errors.hpp"

#include "cli/report.hpp"
#include "terminal/display.hpp"
#include "terminal/json_layout.hpp"
#include "terminal/json_output.hpp"
#include "terminal/live_line.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/wording.hpp"

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
                  terminal::format_span(std::chrono::duration_cast<std::chrono::seconds>(waited)));
  if (task.attempts > 1) text += fmt::format(" · attempt {}", task.attempts);
  if (task.progress) text += " · " + terminal::format_progress(*task.progress);
  if (task.data.status == TaskStatus::retrying && task.available_at) {
    text += " · next attempt " + terminal::format_age(*task.available_at, system_clock().now());
  }
  if (is_waiting(task.data.status) && task.queue && !is_served(engine, *task.queue)) {
    text += fmt::format(" · no worker serves queue '{}'", terminal::printable(*task.queue));
  }
  return text;
}

/// Shows what the task does until it is final, or `timeout` has passed: false.
bool watch(Application& app, const TaskHandle& task, std::optional<milliseconds> timeout,
           terminal::Console& console) {
  terminal::LiveLine line{console.err, console.err_screen};
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

/// Leaves the result in `result` if there is one; all else is told on `console.err`.
terminal::ExitCode wait_and_report(Application& app, TaskId id, std::optional<milliseconds> timeout,
                                   terminal::Console& console, std::string& result) {
  try {
    result = await_result(app, id, timeout, console);
    return terminal::ExitCode::done;
  } catch (const StorageException&) {
    throw;
  } catch (const Error&) {
    return report(std::current_exception(), console);
  }
}

}  // namespace

std::string await_result(Application& app, TaskId id, std::optional<milliseconds> timeout,
                         terminal::Console& console) {
  const TaskHandle task{app.tasks(), id};
  const bool finished =
      console.err_screen.is_terminal ? watch(app, task, timeout, console) : task.wait(timeout);
  if (!finished) {
    throw TimeoutException{fmt::format(
        "task {0} is not finished in time; it goes on, and errand wait {0} waits for it "
        "again",
        id.to_string())};
  }
  return task.get_json();
}

terminal::ExitCode print_result(Application& app, TaskId id, std::optional<milliseconds> timeout,
                                terminal::Console& console) {
  std::string result;
  const terminal::ExitCode code = wait_and_report(app, id, timeout, console, result);
  if (code != terminal::ExitCode::done) return code;
  print_json(console, console.out_screen.is_terminal ? result : terminal::compact_json(result));
  console.out.flush();
  return code;
}

terminal::ExitCode print_outcome(Application& app, TaskId id, std::optional<milliseconds> timeout,
                                 terminal::Console& console) {
  std::string ignored;
  const terminal::ExitCode code = wait_and_report(app, id, timeout, console, ignored);
  const std::optional<TaskRecord> task = app.engine().catalog().find(id);
  boost::json::object outcome{{"taskId", id.to_string()}};
  if (!task || task->expired) {
    outcome["status"] = task ? "expired" : "unknown";
  } else {
    outcome["status"] = to_string(task->data.status);
    if (task->data.result) outcome["result"] = *task->data.result;
    if (task->data.error) outcome["error"] = *task->data.error;
  }
  print_json(console, boost::json::serialize(outcome));
  console.out.flush();
  return code;
}

}  // namespace errand::cli
