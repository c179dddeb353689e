#include "cli/task_view.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <fmt/ostream.h>
#include <optional>
#include <string>
#include <string_view>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"
#include "errand/json.hpp"

#include "cli/colour.hpp"
#include "cli/failure_view.hpp"
#include "terminal/display.hpp"
#include "terminal/json_layout.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kLabelWidth = 11;
constexpr std::size_t kShortDocument = 60;
constexpr std::size_t kMostDocumentLines = 30;

class TaskPrinter {
 public:
  TaskPrinter(std::ostream& out, const TaskRecord& task, Timestamp now,
              const terminal::Screen& screen)
      : out_{out}, task_{task}, now_{now}, screen_{screen} {}

  void print() {
    line("task", task_.data.id.to_string());
    status();
    if (!task_.type.empty()) line("type", terminal::printable(task_.type));
    queue();
    times();
    if (task_.queue) attempts();
    if (task_.worker) line("worker", terminal::printable(*task_.worker));
    if (task_.progress) line("progress", terminal::format_progress(*task_.progress));
    for (const auto& [name, value] : task_.headers) {
      line("header", terminal::printable(name) + ": " + terminal::printable(value));
    }
    if (task_.data.payload) document("payload", *task_.data.payload);
    if (task_.data.result) document("result", *task_.data.result);
    if (task_.history) history(*task_.history);
    if (task_.data.error) error(*task_.data.error);
  }

 private:
  void line(std::string_view label, std::string_view text) {
    fmt::print(out_, "{}{}{}\n", paint(label, terminal::Colour::dim, screen_),
               std::string(std::max(kLabelWidth, label.size() + 1) - label.size(), ' '), text);
  }

  void status() {
    std::string text = paint(to_string(task_.data.status), colour_of(task_.data.status), screen_);
    if (task_.cancel_requested && !is_final(task_.data.status)) text += ", asked to stop";
    line("status", text);
  }

  void queue() {
    if (!task_.queue) return line("queue", "none: this record was never queued");
    std::string text = terminal::printable(*task_.queue);
    if (task_.priority != 0) text += fmt::format(", priority {}", task_.priority);
    line("queue", text);
  }

  void time(std::string_view label, const std::optional<Timestamp>& time) {
    if (!time) return;
    line(label,
         fmt::format("{}  {}", to_iso8601(std::chrono::floor<std::chrono::seconds>(*time)),
                     paint(terminal::format_age(*time, now_), terminal::Colour::dim, screen_)));
  }

  void times() {
    time("submitted", task_.data.submitted_at);
    if (is_waiting(task_.data.status) && task_.available_at && *task_.available_at > now_) {
      time("due", task_.available_at);
    }
    time("started", task_.data.started_at);
    time("ended", task_.data.completed_at);
    if (task_.data.status == TaskStatus::running) time("leased to", task_.lease_expires_at);
  }

  void attempts() {
    std::string text = fmt::format("{} of {}", task_.attempts, task_.retry.max_retries + 1);
    if (task_.crashes > 0) text += fmt::format(", {} lost with their worker", task_.crashes);
    line("attempts", text);
  }

  void document(std::string_view label, std::string_view json) {
    if (json.size() <= kShortDocument && json.find('\n') == std::string_view::npos) {
      return line(label, terminal::printable(json));
    }
    const std::string laid_out = terminal::indent_json(json);
    std::string_view rest = laid_out;
    const std::string margin(kLabelWidth, ' ');
    for (std::size_t lines = 0; !rest.empty(); ++lines) {
      if (lines == kMostDocumentLines) {
        fmt::print(out_, "{}… {} bytes in all: --json prints them\n", margin,
                   terminal::format_count(static_cast<std::int64_t>(json.size())));
        return;
      }
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string text = terminal::printable(rest.substr(0, end));
      if (screen_.width > kLabelWidth) text = terminal::truncate(text, screen_.width - kLabelWidth);
      if (lines == 0) {
        line(label, text);
      } else {
        fmt::print(out_, "{}{}\n", margin, text);
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  /// What went wrong before. Whoever wrote the record may have had another idea of its form.
  void history(std::string_view json) {
    boost::json::value attempts;
    try {
      attempts = parse_json(json);
    } catch (const ValidationException&) {
      return;
    }
    if (!attempts.is_array()) return;
    for (const boost::json::value& item : attempts.get_array()) {
      const boost::json::object* attempt = item.if_object();
      const boost::json::value* failure = attempt ? attempt->if_contains("error") : nullptr;
      if (failure == nullptr) continue;
      const ExceptionData error = parse_exception_data(boost::json::serialize(*failure));
      // The last attempt of a failed task is told as its error.
      if (task_.data.error && &item == &attempts.get_array().back()) continue;
      const boost::json::value* number = attempt->if_contains("attempt");
      const boost::json::value* at = attempt->if_contains("at");
      std::string text;
      if (at != nullptr && at->is_string()) {
        const auto time = parse_iso8601(std::string_view{at->get_string()});
        if (time) text = terminal::format_age(*time, now_) + ", ";
      }
      line(
          number != nullptr && number->is_int64() ? fmt::format("attempt {}", number->get_int64())
                                                  : "attempt",
          text + terminal::printable(error.class_name) + ": " + terminal::printable(error.message));
    }
  }

  void error(std::string_view json) {
    const ExceptionData error = parse_exception_data(json);
    line("error",
         fmt::format("{}: {}",
                     paint(terminal::printable(error.class_name), terminal::Colour::red, screen_),
                     terminal::printable(error.message)));
    print_causes(out_, error, std::string(kLabelWidth, ' '), Traces::show);
  }

  std::ostream& out_;
  const TaskRecord& task_;
  Timestamp now_;
  const terminal::Screen& screen_;
};

std::string attempts_cell(const TaskRecord& task) {
  return task.queue ? fmt::format("{}/{}", task.attempts, task.retry.max_retries + 1) : "";
}

std::string ended_cell(Timestamp ended, bool expired, Timestamp now) {
  return terminal::format_short_age(ended, now) + (expired ? " ago, expired" : " ago");
}

}  // namespace

std::string format_tasks(std::int64_t count, std::string_view kind) {
  return fmt::format("{} {}{}{}", terminal::format_count(count), kind, kind.empty() ? "" : " ",
                     count == 1 ? "task" : "tasks");
}

void print_task(std::ostream& out, const TaskRecord& task, Timestamp now,
                const terminal::Screen& screen) {
  TaskPrinter{out, task, now, screen}.print();
}

void print_tasks(std::ostream& out, const std::vector<TaskRecord>& tasks, Timestamp now,
                 const terminal::Screen& screen) {
  terminal::Table table{
      {{.title = "ID"},
       {.title = "STATUS"},
       {.title = "TYPE", .may_shrink = true},
       {.title = "QUEUE", .may_shrink = true},
       {.title = "TRIES", .align = terminal::Column::Align::right, .may_drop = true},
       {.title = "AGE", .align = terminal::Column::Align::right},
       {.title = "ENDED", .align = terminal::Column::Align::right, .may_drop = true}}};
  for (const TaskRecord& task : tasks) {
    const auto& ended = task.data.completed_at;
    table.add_row({task.data.id.to_string(),
                   {std::string{to_string(task.data.status)}, colour_of(task.data.status)},
                   task.type,
                   task.queue.value_or(""),
                   attempts_cell(task),
                   terminal::format_short_age(task.data.submitted_at, now),
                   ended ? ended_cell(*ended, task.expired, now) : std::string{}});
  }
  table.print(out, screen);
}

}  // namespace errand::cli
