#include "distributor_upgrade/commands/program.hpp"

#include <exception>
#include <fmt/ostream.h>
#include <string_view>

#include "errand/errors.hpp"

#include "distributor_upgrade/criteria/criteria.hpp"
#include "distributor_upgrade/model/not_found.hpp"

namespace errand::distributors {
namespace {

void say(const Invocation& invocation, std::string_view sentence) {
  fmt::print(invocation.err, "errand-distributors: {}\n",
             printable(sentence.substr(0, sentence.find('\n'))));
  // Some list the right forms, a line each.
  while (sentence.find('\n') != std::string_view::npos) {
    sentence.remove_prefix(sentence.find('\n') + 1);
    fmt::print(invocation.err, "{}\n", printable(sentence.substr(0, sentence.find('\n'))));
  }
}

/// The criteria, and below them a mark where they went wrong.
void point_at(const CriteriaException& error, const Invocation& invocation) {
  if (error.text().empty()) return;
  const std::string before = printable(std::string_view{error.text()}.substr(0, error.position()));
  fmt::print(invocation.err, "  {}\n  {}^\n", printable(error.text()),
             std::string(display_width(before), ' '));
}

ExitCode report(const std::exception_ptr& error, const Invocation& invocation) {
  try {
    std::rethrow_exception(error);
  } catch (const CriteriaException& e) {
    say(invocation, e.what());
    point_at(e, invocation);
    return ExitCode::usage;
  } catch (const NotFound& e) {
    say(invocation, e.what());
    return ExitCode::not_found;
  } catch (const StorageException& e) {
    say(invocation, e.what());
    return ExitCode::storage_unreachable;
  } catch (const ConfigurationException& e) {
    say(invocation, e.what());
    return ExitCode::usage;
  } catch (const ValidationException& e) {
    say(invocation, e.what());
    return ExitCode::usage;
  } catch (const Error& e) {
    say(invocation, e.what());
    return ExitCode::failed;
  } catch (const std::exception& e) {
    say(invocation, e.what());
    return ExitCode::internal_error;
  }
}

}  // namespace

ExitCode run(std::vector<std::string> arguments, Invocation& invocation) noexcept {
  try {
    const ExitCode code = parse_and_run(std::move(arguments), invocation);
    invocation.out.flush();
    if (invocation.out.good()) return code;
    say(invocation, "cannot write to standard output");
    return ExitCode::output_failed;
  } catch (...) {
    return report(std::current_exception(), invocation);
  }
}

}  // namespace errand::distributors
