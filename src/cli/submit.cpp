#include <chrono>
#include <cstdint>
#include <fmt/ostream.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errand/application.hpp"
#include "errand/clock.hpp"
#include "errand/errors.hpp"
#include "errand/json.hpp"
#include "errand/timestamp.hpp"

#include "cli/await_result.hpp"
#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/message_input.hpp"
#include "cli/options.hpp"
#include "cli/submit_lines.hpp"
#include "terminal/display.hpp"
#include "terminal/duration.hpp"
#include "terminal/output_stream.hpp"

namespace errand::cli {
namespace {

using std::chrono::milliseconds;

struct SubmitCommand {
  std::string type;
  std::optional<std::string> payload;
  std::string lines;  ///< the file of --jsonl
  std::string queue = kDefaultQueue;
  milliseconds delay{0};
  std::string at;  ///< empty: as `delay` says
  std::int64_t priority = 0;
  std::int64_t max_retries = RetryPolicy{}.max_retries;
  RetryPolicy retry{};  ///< but for max_retries
  std::vector<std::string> headers;
  std::string id;
  std::string wait;  ///< empty: do not; `true`: as long as it takes; else a duration
};

std::optional<milliseconds> wait_limit(const SubmitCommand& command) {
  if (command.wait == "true") return std::nullopt;
  try {
    return terminal::parse_duration(command.wait);
  } catch (const ValidationException& error) {
    throw ConfigurationException{std::string{"--wait: "} + error.what()};
  }
}

std::optional<Timestamp> parse_at(const SubmitCommand& command) {
  if (command.at.empty()) return std::nullopt;
  const std::optional<Timestamp> time = parse_iso8601(command.at);
  if (time) return time;
  throw ConfigurationException{fmt::format(
      "--at: '{}' is not a time: write 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00",
      terminal::printable(command.at))};
}

/// All but the payload. Nothing is opened before this and the payload are known to be right.
NewTask make_task(const SubmitCommand& command, std::string payload) {
  RetryPolicy retry = command.retry;
  retry.max_retries = static_cast<int>(command.max_retries);
  const std::optional<Timestamp> at = parse_at(command);
  NewTask task{
      .id = command.id.empty() ? TaskId::generate() : TaskId::from_string(command.id),
      .envelope = Envelope{command.type, std::move(payload), parse_headers(command.headers)},
      .queue = command.queue,
      .delay = at ? delay_until(*at, system_clock().now()) : command.delay,
      .priority = static_cast<int>(command.priority),
      .retry = retry};
  validate(task);
  return task;
}

void store(NewTask& task, const std::optional<Timestamp>& at, Tasks& tasks) {
  if (at) task.delay = delay_until(*at, tasks.engine().now());
  try {
    tasks.submit_batch({&task, 1});
  } catch (const StorageException& error) {
    if (error.retry() != StorageException::Retry::in_doubt) throw;
    throw StorageException{
        fmt::format(
            "{}; whether the task was stored is not known: submitting it again with --id {} "
            "is safe",
            error.what(), task.id.to_string()),
        error.retry()};
  }
}

ExitCode submit_one(const SubmitCommand& command, Invocation& invocation) {
  Console& console = invocation.console;
  NewTask task = make_task(command, read_payload(command.payload, console));
  const bool waits = !command.wait.empty();
  const std::optional<milliseconds> limit = waits ? wait_limit(command) : std::nullopt;

  Application app{invocation.dsn(), {.open = EngineOptions::Open::create}};
  store(task, parse_at(command), app.tasks());
  // Whoever ends the wait early can wait for it again.
  if (waits && console.err_screen.is_terminal) {
    fmt::print(console.err, "task {}\n", task.id.to_string());
    console.err.flush();
  }
  try {
    if (waits) return print_result(app, task.id, limit, console);
    fmt::print(console.out, "{}\n", task.id.to_string());
    console.out.flush();
  } catch (const terminal::OutputException&) {
    // Whoever sees an error submits again, and has two tasks.
    fmt::print(console.err, "errand: task {} is stored all the same\n", task.id.to_string());
    throw;
  }
  return ExitCode::done;
}

ExitCode submit_many(const SubmitCommand& command, Invocation& invocation) {
  const NewTask pattern = make_task(command, "{}");
  Input input{command.lines, invocation.console.in};
  Application app{invocation.dsn(), {.open = EngineOptions::Open::create}};
  submit_lines(input, {.task = pattern, .at = parse_at(command)}, app.tasks(), invocation.console);
  return ExitCode::done;
}

ExitCode submit(const SubmitCommand& command, Invocation& invocation) {
  return command.lines.empty() ? submit_one(command, invocation) : submit_many(command, invocation);
}

}  // namespace

void add_submit(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<SubmitCommand>();
  CLI::App& command = add_command(
      parent, "submit", "Submit a task, or one per line of a file; prints the ids", kTaskCommands);
  add_argument(command, "TYPE", options->type,
               "What is to be done, by the name workers know: email.send")
      .required();
  const AddedOption payload = add_argument(command, "PAYLOAD", options->payload,
                                           "JSON, @FILE, or - for standard input; {} if left out");
  const AddedOption lines =
      add_text(command, "--jsonl", options->lines, kFileName,
               "One task for each line of JSON in the file (- is standard input), 1,000 in a "
               "transaction")
          .excludes(payload);
  add_text(command, "--queue", options->queue, "QUEUE", "Where it waits; default if left out");
  const AddedOption delay =
      add_duration(command, "--delay", options->delay, "Run it not before this time has passed");
  add_text(command, "--at", options->at, "MOMENT",
           "Run it not before this moment, in ISO 8601: 2026-12-24T18:00:00Z")
      .excludes(delay);
  add_number(command, "--priority", options->priority, -32768, 32767,
             "Higher runs first; 0 if left out");
  add_number(command, "--max-retries", options->max_retries, 0, 1'000'000,
             "Attempts after the first; 3 if left out");
  add_duration(command, "--retry-delay", options->retry.delay,
               "Before the first retry; 1s if left out");
  add_number(command, "--retry-multiplier", options->retry.multiplier, 1.0, 1'000.0,
             "Each further wait is this much longer; 5 if left out");
  add_duration(command, "--retry-max-delay", options->retry.max_delay,
               "No wait is longer; no bound if left out");
  add_number(command, "--retry-jitter", options->retry.jitter, 0.0, 1.0,
             "0.1: each wait is up to 10 % shorter or longer; 0 if left out");
  add_texts(command, "--header", options->headers, "NAME=VALUE",
            "Travels with the message; may be repeated");
  add_text(command, "--id", options->id, "ID",
           "A UUID v4 of yours; submitted twice, it is one task")
      .excludes(lines);
  add_flag(command, "--wait", options->wait, kTimeName,
           "Print the result instead of the id, as errand wait does")
      .excludes(lines);
  add_dsn(command, invocation);
  add_examples(command, {
                            R"(errand submit email.send '{"to":"a@b.c"}' --queue mail)",
                            "errand submit report.build @report.json --delay 2h --priority 5",
                            "errand submit thumbnail.make --jsonl images.jsonl > ids.txt",
                            "errand submit errand.echo '[1,2]' --wait=10s",
                        });
  runs(command, invocation, options, submit);
}

}  // namespace errand::cli
