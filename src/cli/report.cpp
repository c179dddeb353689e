#include "cli/report.hpp"

#include <string_view>

#include "errand/errors.hpp"

#include "cli/failure_view.hpp"
#include "terminal/complaint.hpp"
#include "terminal/output_stream.hpp"

namespace errand::cli {
namespace {

using terminal::ExitCode;

constexpr const char* kProgram = "errand";

void say(terminal::Console& console, std::string_view sentence) {
  terminal::complain(console, kProgram, sentence);
}

}  // namespace

terminal::ExitCode report(const std::exception_ptr& error, terminal::Console& console) {
  try {
    std::rethrow_exception(error);
  } catch (const terminal::OutputException& e) {
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
    return ExitCode::not_found;
  } catch (const StorageException& e) {
    say(console, e.what());
    return ExitCode::storage_unreachable;
  } catch (const ConfigurationException& e) {
    terminal::complain_in_lines(console, kProgram, e.what());
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
