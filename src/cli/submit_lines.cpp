#include "cli/submit_lines.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fmt/ostream.h>
#include <utility>
#include <vector>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "cli/task_view.hpp"
#include "terminal/display.hpp"
#include "terminal/live_line.hpp"
#include "terminal/output_stream.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kBatchTasks = 1000;
constexpr std::size_t kBatchBytes = std::size_t{8} * 1024 * 1024;

class LineSubmitter {
 public:
  LineSubmitter(Input& input, const LinePattern& pattern, Tasks& tasks, terminal::Console& console)
      : input_{input},
        pattern_{pattern},
        tasks_{tasks},
        console_{console},
        line_{console.err, console.err_screen} {}

  void run() {
    while (std::optional<std::string> line = input_.read_line()) {
      std::string payload = trim_json(*std::move(line));
      if (payload.empty()) continue;
      check(payload);
      bytes_ += payload.size();
      batch_.push_back(make_task(std::move(payload)));
      if (batch_.size() == kBatchTasks || bytes_ >= kBatchBytes) flush();
    }
    flush();
  }

 private:
  void check(const std::string& payload) const {
    try {
      static_cast<void>(parse_json(payload));
    } catch (const ValidationException& error) {
      throw ValidationException{fmt::format("line {} of {}: {}; {}", input_.line_number(),
                                            input_.name(), error.what(), so_far())};
    }
  }

  [[nodiscard]] NewTask make_task(std::string payload) const {
    NewTask task = pattern_.task;
    task.id = TaskId::generate();
    task.envelope = Envelope{task.envelope.type(), std::move(payload), task.envelope.headers()};
    return task;
  }

  void flush() {
    if (batch_.empty()) return;
    if (pattern_.at) {
      const auto delay = delay_until(*pattern_.at, tasks_.engine().now());
      for (NewTask& task : batch_) task.delay = delay;
    }
    try {
      tasks_.submit_batch(batch_);
    } catch (const StorageException& error) {
      std::string message = fmt::format("{}; {}", error.what(), so_far());
      if (error.retry() == StorageException::Retry::in_doubt) {
        message += fmt::format(", but perhaps the next {}",
                               format_tasks(static_cast<std::int64_t>(batch_.size())));
      }
      throw StorageException{message, error.retry()};
    }
    submitted_ += static_cast<std::int64_t>(batch_.size());
    last_line_ = input_.line_number();
    print_ids();
    batch_.clear();
    bytes_ = 0;
    show_progress();
  }

  void print_ids() {
    try {
      for (const NewTask& task : batch_) fmt::print(console_.out, "{}\n", task.id.to_string());
      console_.out.flush();
    } catch (const terminal::OutputException&) {
      line_.clear();
      fmt::print(console_.err, "errand: {}\n", so_far());
      throw;
    }
  }

  [[nodiscard]] std::string so_far() const {
    if (submitted_ == 0) return "nothing was submitted";
    return fmt::format("{} of lines 1 to {} {} submitted, none of the lines after",
                       format_tasks(submitted_), last_line_, submitted_ == 1 ? "was" : "were");
  }

  void show_progress() {
    const auto seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    std::string text = fmt::format("{} submitted · {}/s", terminal::format_count(submitted_),
                                   terminal::format_count(static_cast<std::int64_t>(
                                       static_cast<double>(submitted_) / seconds)));
    if (input_.size() && *input_.size() > 0) {
      text += fmt::format(" · {} % of {}", input_.position() * 100 / *input_.size(),
                          terminal::printable(input_.name()));
    }
    line_.show(text);
  }

  Input& input_;
  const LinePattern& pattern_;
  Tasks& tasks_;
  terminal::Console& console_;
  terminal::LiveLine line_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<NewTask> batch_;
  std::size_t bytes_ = 0;
  std::int64_t submitted_ = 0;
  std::int64_t last_line_ = 0;
};

}  // namespace

std::chrono::milliseconds delay_until(Timestamp time, Timestamp now) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(time - now),
                  std::chrono::milliseconds{0});
}

std::string trim_json(std::string text) {
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return {};
  text.erase(text.find_last_not_of(kSpace) + 1);
  text.erase(0, begin);
  return text;
}

void submit_lines(Input& input, const LinePattern& pattern, Tasks& tasks,
                  terminal::Console& console) {
  LineSubmitter{input, pattern, tasks, console}.run();
}

}  // namespace errand::cli
