#include "app/exec_handler.hpp"

#include <cstring>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "errand/task.hpp"

#include "app/child_process.hpp"
#include "core/traceparent.hpp"

namespace errand::detail {
namespace {

constexpr std::size_t kMaxErrorText = std::size_t{16} * 1024;

std::string trimmed(std::string text) {
  const auto last = text.find_last_not_of(" \t\r\n");
  text.erase(last == std::string::npos ? 0 : last + 1);
  return text;
}

/// What the command said, or else how it ended.
CommandFailed failure(const std::string& how, std::string errors) {
  errors = trimmed(std::move(errors));
  return CommandFailed{errors.empty() ? "the command " + how
                                      : errors + " (the command " + how + ")"};
}

std::vector<std::pair<std::string, std::string>> environment_of(const Envelope& envelope,
                                                                const TaskContext& context) {
  std::vector<std::pair<std::string, std::string>> environment{
      // Both, so that none is inherited from a task that this worker itself is part of.
      {"ERRAND_TASK_ID", context.message_id().empty() ? context.id().to_string() : ""},
      {"ERRAND_MESSAGE_ID", std::string{context.message_id()}},
      {"ERRAND_TASK_TYPE", envelope.type()},
      {"ERRAND_ATTEMPT", std::to_string(context.attempt())}};
  const auto trace = envelope.headers().find(kTraceparent);
  if (trace != envelope.headers().end() && is_traceparent(trace->second)) {
    environment.emplace_back("TRACEPARENT", trace->second);
  }
  return environment;
}

}  // namespace

RawHandler exec_handler(std::string command, std::chrono::milliseconds timeout) {
  return [command = std::move(command), timeout](const Envelope& envelope, TaskContext& context) {
    using End = ChildResult::End;
    ChildResult result = run_child(ChildOptions{.command = command,
                                                .environment = environment_of(envelope, context),
                                                .timeout = timeout,
                                                .max_output = kMaxDocumentBytes,
                                                .max_errors = kMaxErrorText},
                                   envelope.body(), context.stop_token());
    switch (result.end) {
      case End::stopped:
        throw Cancelled{};
      case End::timed_out:
        throw failure(fmt::format("was killed after {} ms", timeout.count()),
                      std::move(result.errors));
      case End::signalled:
        throw failure(
            fmt::format("was ended by signal {} ({})", result.code, strsignal(result.code)),
            std::move(result.errors));
      case End::output_too_large:
        throw Unrecoverable{
            fmt::format("the command printed more than {} MiB", kMaxDocumentBytes >> 20)};
      case End::exited:
        break;
    }
    if (result.code != 0) {
      throw failure(fmt::format("exited with status {}", result.code), std::move(result.errors));
    }
    std::string output = trimmed(std::move(result.output));
    if (output.empty()) return std::string{"null"};
    if (!context.message_id().empty()) {
      // There is no record that could hold a result.
      context.log().debug(
          fmt::format("{} {} printed: {}", envelope.type(), context.message_id(), output));
      return std::string{"null"};
    }
    try {
      static_cast<void>(parse_json(output));
    } catch (const ValidationException& error) {
      throw Unrecoverable{std::string{"the command's output: "} + error.what()};
    }
    return output;
  };
}

void add_exec_handlers(Handlers& handlers, const std::vector<std::string>& texts,
                       std::chrono::milliseconds timeout, const SymfonySerializer& names) {
  for (const std::string& text : texts) add_exec_handler(handlers, text, timeout);
  // After all of them: whoever has a command of its own keeps it.
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    for (const std::string& name : names.names_of(text.substr(0, equals))) {
      if (!handlers.has(name)) {
        handlers.add_raw(name, exec_handler(text.substr(equals + 1), timeout));
      }
    }
  }
}

void add_exec_handler(Handlers& handlers, const std::string& text,
                      std::chrono::milliseconds timeout) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw ConfigurationException{
        "--exec takes TYPE=COMMAND, as in --exec 'thumb.make=./thumb.sh', "
        "not `" +
        text + "`"};
  }
  handlers.add_raw(text.substr(0, equals), exec_handler(text.substr(equals + 1), timeout));
}

}  // namespace errand::detail
