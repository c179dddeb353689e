#include "cli/exit_code.hpp"

#include <fmt/ostream.h>
#include <string_view>

#include "errand/errors.hpp"

#include "cli/failure_view.hpp"
#include "cli/output_stream.hpp"
#include "terminal/display.hpp"

namespace errand::cli {
namespace {

void say(Console& console, std::string_view sentence) {
  fmt::print(console.err, "errand: {}\n", terminal::printable(sentence));
}

/// Configuration errors may list the right forms, a line each.
void say_lines(Console& console, std::string_view text) {
  say(console, text.substr(0, text.find('\n')));
  while (text.find('\n') != std::string_view::npos) {
    text.remove_prefix(text.find('\n') + 1);
    fmt::print(console.err, "{}\n", terminal::printable(text.substr(0, text.find('\n'))));
  }
}

}  // namespace

ExitCode report(const std::exception_ptr& error, Console& console) {
  try {
    std::rethrow_exception(error);
  } catch (const OutputException& e) {
    if (e.reader_is_gone()) return ExitCode::output_closed;
    say(console, e.what());
    return ExitCode::output_failed;
  } catch (const TaskFailedException& e) {
    print_failure(e.id(), e.data(), console);
    return ExitCode::failed;
  } catch (const TaskCancelledException& e) {
    say(console, e.what());
    return ExitCode::cancelled;
  } catch (const TimeoutException& e) {
    say(console, e.what());
    return ExitCode::timed_out;
  } catch (const TaskNotFoundException& e) {
    say(console, e.what());
    return ExitCode::no_such_task;
  } catch (const StorageException& e) {
    say(console, e.what());
    return ExitCode::storage_unreachable;
  } catch (const ConfigurationException& e) {
    say_lines(console, e.what());
    return ExitCode::usage;
  } catch (const ValidationException& e) {
    say(console, e.what());
    return ExitCode::usage;
  } catch (const std::exception& e) {
    say(console, e.what());
    return ExitCode::internal_error;
  } catch (...) {
    say(console, "something was thrown that is not an exception: a mistake in Errand");
    return ExitCode::internal_error;
  }
}

}  // namespace errand::cli
