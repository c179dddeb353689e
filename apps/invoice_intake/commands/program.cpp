#include "invoice_intake/commands/program.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <exception>
#include <system_error>
#include <utility>

#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/commands/not_found.hpp"
#include "invoice_intake/extraction/extract.hpp"
#include "invoice_intake/intake/imap_connection.hpp"
#include "invoice_intake/model/email_task.hpp"
#include "invoice_intake/store/profiles.hpp"
#include "terminal/complaint.hpp"
#include "terminal/output_stream.hpp"
#include "terminal/program.hpp"

namespace errand::invoices {
namespace {

/// In the order of the help.
constexpr std::array kCommands{add_user,     add_ingest,  add_worker, add_extract, add_tasks,
                               add_invoices, add_monitor, add_setup,  add_purge,   add_bench};

constexpr const char* kFooter =
    "Exit status:\n"
    "  0  done                               5  no such task, invoice or user\n"
    "  1  something was refused, or found    6  storage or mail server cannot be used\n"
    "  2  usage, data, DSN\n"
    "\n"
    "Examples:\n"
    "  errand-invoices user add ann@example.com\n"
    "  errand-invoices ingest mail/*.eml\n"
    "  errand-invoices worker --drain\n"
    "  errand-invoices invoices list\n"
    "\n"
    "errand-invoices COMMAND --help tells more about a command.";

ExitCode say(Console& console, std::string_view sentence, ExitCode code) {
  terminal::complain(console, "errand-invoices", sentence);
  return code;
}

/// Says what went wrong, and returns the code that goes with it.
ExitCode explain(const std::exception_ptr& thrown, Console& console) {
  try {
    std::rethrow_exception(thrown);
  } catch (const terminal::OutputException& error) {
    if (error.reader_is_gone()) return ExitCode::output_closed;
    return say(console, error.what(), ExitCode::output_failed);
  } catch (const NotFound& error) {
    return say(console, error.what(), ExitCode::not_found);
  } catch (const NoSuchUser& error) {
    return say(console, error.what(), ExitCode::not_found);
  } catch (const NotPossible& error) {
    return say(console, error.what(), ExitCode::failed);
  } catch (const StorageException& error) {
    return say(console, error.what(), ExitCode::storage_unreachable);
  } catch (const ImapLoginRefused& error) {
    return say(console, error.what(), ExitCode::usage);
  } catch (const ImapError& error) {
    return say(console, error.what(), ExitCode::storage_unreachable);
  } catch (const ConcurrentModificationException& error) {
    return say(console, error.what(), ExitCode::failed);
  } catch (const ExtractorUnavailable& error) {
    return say(console, error.what(), ExitCode::usage);
  } catch (const Error& error) {
    return say(console, error.what(), ExitCode::usage);
  } catch (const std::system_error& error) {
    return say(console, error.what(), ExitCode::usage);
  } catch (const std::exception& error) {
    return say(console, error.what(), ExitCode::internal_error);
  } catch (...) {
    return say(console, "something was thrown that is not an exception: a mistake in this program",
               ExitCode::internal_error);
  }
}

ExitCode parse_and_run(std::vector<std::string> arguments, Console& console) {
  CLI::App root{
      "E-mails in, invoices out: takes mail in, reads its attachments, keeps what it finds.",
      "errand-invoices"};
  Invocation invocation{.console = console};
  terminal::begin_program(root, console.out_screen, kFooter);
  for (const auto add : kCommands) add(root, invocation);
  const auto ended = terminal::parse_arguments(root, std::move(arguments), console);
  return ended ? *ended : invocation.command();
}

}  // namespace

terminal::ExitCode run(std::vector<std::string> arguments, terminal::Console& console) noexcept {
  try {
    const ExitCode code = parse_and_run(std::move(arguments), console);
    console.out.flush();
    return code;
  } catch (...) {
    return explain(std::current_exception(), console);
  }
}

}  // namespace errand::invoices
