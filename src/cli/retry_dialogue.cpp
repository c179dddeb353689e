#include "cli/retry_dialogue.hpp"

#include <fmt/ostream.h>
#include <istream>

#include "errand/errors.hpp"

#include "cli/failure_view.hpp"
#include "terminal/display.hpp"

namespace errand::cli {
namespace {

enum class Answer { retry, remove, skip, quit };

void show(const Failure& failure, std::size_t number, std::size_t total, std::ostream& out) {
  constexpr std::size_t kMostOfBody = 500;
  const auto line = [&](const char* name, const std::string& value) {
    fmt::print(out, "{:<10} {}\n", name, terminal::printable(value));
  };
  fmt::print(out, "\n{} of {}\n", number, total);
  line("id", failure.id);
  line("type", failure.type);
  line("from", failure.where);
  line("body", failure.body.size() > kMostOfBody ? failure.body.substr(0, kMostOfBody) + "…"
                                                 : failure.body);
  line("error", summarize(failure.error));
  print_causes(out, failure.error, "           ", Traces::leave_out);
}

/// Whoever closes the input wants no more.
Answer ask(terminal::Console& console) {
  while (true) {
    fmt::print(console.err, "[r]etry, [d]elete, [s]kip, [q]uit? ");
    console.err.flush();
    std::string answer;
    if (!std::getline(console.in, answer)) return Answer::quit;
    if (answer == "r" || answer == "retry") return Answer::retry;
    if (answer == "d" || answer == "delete") return Answer::remove;
    if (answer == "s" || answer == "skip") return Answer::skip;
    if (answer == "q" || answer == "quit") return Answer::quit;
  }
}

}  // namespace

void require_dialogue(const terminal::Console& console) {
  if (console.in_is_terminal && console.err_screen.is_terminal) return;
  throw ConfigurationException{
      "--interactive asks a person and needs a terminal; name what to retry, or use --all"};
}

DialogueResult go_through(const std::vector<Failure>& failures, const RetryDialogue& dialogue,
                          terminal::Console& console) {
  DialogueResult result;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    show(failures[i], i + 1, failures.size(), console.err);
    switch (ask(console)) {
      case Answer::retry:
        ++(dialogue.retry(failures[i]) ? result.retried : result.skipped);
        break;
      case Answer::remove:
        ++(dialogue.remove(failures[i]) ? result.removed : result.skipped);
        break;
      case Answer::skip:
        ++result.skipped;
        break;
      case Answer::quit:
        result.skipped += failures.size() - i;
        return result;
    }
  }
  return result;
}

}  // namespace errand::cli
