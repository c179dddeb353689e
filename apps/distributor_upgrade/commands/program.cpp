#include "distributor_upgrade/commands/program.hpp"

#include <exception>
#include <fmt/ostream.h>
#include <string_view>
#include <utility>

#include "errand/errors.hpp"

#include "distributor_upgrade/commands/invocation.hpp"
#include "distributor_upgrade/criteria/criteria.hpp"
#include "distributor_upgrade/model/not_found.hpp"
#include "terminal/complaint.hpp"
#include "terminal/display.hpp"
#include "terminal/output_stream.hpp"

namespace errand::distributors {
namespace {

void say(terminal::Console& console, std::string_view text) {
  terminal::complain_in_lines(console, kProgram, text);
}

/// The criteria, and below them a mark where they went wrong.
void point_at(const CriteriaException& error, terminal::Console& console) {
  if (error.text().empty()) return;
  const std::string before =
      terminal::printable(std::string_view{error.text()}.substr(0, error.position()));
  fmt::print(console.err, "  {}\n  {}^\n", terminal::printable(error.text()),
             std::string(terminal::display_width(before), ' '));
}

ExitCode report(const std::exception_ptr& error, terminal::Console& console) {
  try {
    std::rethrow_exception(error);
  } catch (const terminal::OutputException& e) {
    if (e.reader_is_gone()) return ExitCode::output_closed;
    say(console, e.what());
    return ExitCode::output_failed;
  } catch (const CriteriaException& e) {
    say(console, e.what());
    point_at(e, console);
    return ExitCode::usage;
  } catch (const NotFound& e) {
    say(console, e.what());
    return ExitCode::not_found;
  } catch (const StorageException& e) {
    say(console, e.what());
    return ExitCode::storage_unreachable;
  } catch (const ConfigurationException& e) {
    say(console, e.what());
    return ExitCode::usage;
  } catch (const ValidationException& e) {
    say(console, e.what());
    return ExitCode::usage;
  } catch (const Error& e) {
    say(console, e.what());
    return ExitCode::failed;
  } catch (const std::exception& e) {
    say(console, e.what());
    return ExitCode::internal_error;
  } catch (...) {
    say(console, "something was thrown that is not an exception: a mistake in this program");
    return ExitCode::internal_error;
  }
}

}  // namespace

ExitCode run(std::vector<std::string> arguments, terminal::Console& console) noexcept {
  try {
    const ExitCode code = parse_and_run(std::move(arguments), console);
    console.out.flush();
    return code;
  } catch (...) {
    return report(std::current_exception(), console);
  }
}

}  // namespace errand::distributors
