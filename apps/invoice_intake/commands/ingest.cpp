#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <system_error>

#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/intake/imap_mailbox.hpp"
#include "invoice_intake/intake/intake.hpp"
#include "invoice_intake/intake/maildir.hpp"
#include "terminal/console_logger.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"
#include "terminal/stop_signals.hpp"
#include "terminal/table.hpp"

namespace errand::invoices {
namespace {

struct IngestCommand {
  std::vector<std::string> files;
  std::string maildir;
  std::string imap;
  std::string imap_password_file;
  std::string imap_ca;
  bool watch = false;
  bool json = false;
};

boost::json::object view(const IntakeOutcome& outcome) {
  boost::json::object object{{"status", to_string(outcome.status)},
                             {"source", outcome.source},
                             {"user", nullptr},
                             {"task", nullptr},
                             {"subject", outcome.subject},
                             {"reason", nullptr}};
  if (!outcome.user.empty()) object["user"] = outcome.user;
  if (outcome.task) object["task"] = outcome.task->text();
  if (!outcome.reason.empty()) object["reason"] = outcome.reason;
  return object;
}

terminal::Colour colour_of(IntakeOutcome::Status status) {
  switch (status) {
    case IntakeOutcome::Status::created:
      return terminal::Colour::green;
    case IntakeOutcome::Status::known:
      return terminal::Colour::none;
    case IntakeOutcome::Status::refused:
      return terminal::Colour::red;
  }
  return terminal::Colour::none;
}

/// Shows outcomes: as a table at the end, or, when it watches, as lines as they come.
class OutcomeView {
 public:
  OutcomeView(Console& console, bool json, bool watch)
      : console_{console}, json_{json}, watch_{watch} {}

  void add(const IntakeOutcome& outcome) {
    refused_ = refused_ || outcome.status == IntakeOutcome::Status::refused;
    if (!watch_) {
      outcomes_.push_back(outcome);
    } else if (json_) {
      terminal::print_json(console_, boost::json::serialize(view(outcome)));
      console_.out.flush();
    } else {
      print_line(outcome);
      console_.out.flush();
    }
  }

  ExitCode finish() {
    if (!watch_ && json_) {
      boost::json::array array;
      for (const IntakeOutcome& outcome : outcomes_) array.push_back(view(outcome));
      terminal::print_json(console_, boost::json::serialize(array));
    } else if (!watch_ && outcomes_.empty()) {
      fmt::print(console_.out, "There was nothing new\n");
    } else if (!watch_) {
      print_table();
    }
    return refused_ && !watch_ ? ExitCode::failed : ExitCode::done;
  }

 private:
  void print_line(const IntakeOutcome& outcome) {
    const std::string line = fmt::format(
        "{}  {}  {}  {}  {}{}", to_string(outcome.status),
        outcome.task ? outcome.task->text() : "-", outcome.user.empty() ? "-" : outcome.user,
        outcome.source, outcome.subject, outcome.reason.empty() ? "" : " (" + outcome.reason + ")");
    fmt::print(console_.out, "{}\n", terminal::printable(line));
  }

  void print_table() {
    terminal::Table rows{{{.title = "STATUS"},
                          {.title = "TASK"},
                          {.title = "USER", .may_shrink = true},
                          {.title = "SOURCE", .may_shrink = true, .may_drop = true},
                          {.title = "SUBJECT", .may_shrink = true},
                          {.title = "REASON", .may_shrink = true}}};
    for (const IntakeOutcome& outcome : outcomes_) {
      rows.add_row({{std::string{to_string(outcome.status)}, colour_of(outcome.status)},
                    outcome.task ? outcome.task->text() : "-",
                    outcome.user,
                    outcome.source,
                    outcome.subject,
                    outcome.reason});
    }
    rows.print(console_.out, console_.out_screen);
  }

  Console& console_;
  bool json_;
  bool watch_;
  bool refused_ = false;
  std::vector<IntakeOutcome> outcomes_;
};

void check_choice(const IngestCommand& command) {
  const int sources = (command.files.empty() ? 0 : 1) + (command.maildir.empty() ? 0 : 1) +
                      (command.imap.empty() ? 0 : 1);
  if (sources != 1) {
    throw ConfigurationException{
        "what shall be taken in? Give files, or --maildir DIRECTORY, or --imap URL: one of them"};
  }
  if (command.watch && !command.files.empty()) {
    throw ConfigurationException{"--watch goes with --maildir or --imap, not with files"};
  }
}

bool is_mail(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".eml" || ending == ".EML";
}

void take_files(const IngestCommand& command, Invocation& invocation, Database& database,
                Intake& intake, OutcomeView& shown) {
  const std::optional<Profile> user = invocation.chosen_user(database);
  std::vector<std::filesystem::path> documents;
  for (const std::string& name : command.files) {
    if (!std::filesystem::is_regular_file(name)) {
      throw ConfigurationException{name + " is not a file, or cannot be read"};
    }
  }
  for (const std::string& name : command.files) {
    if (!is_mail(name)) {
      documents.emplace_back(name);
      continue;
    }
    try {
      for (const IntakeOutcome& outcome : intake.take_mail(read_file(name), name, user)) {
        shown.add(outcome);
      }
    } catch (const ValidationException& error) {
      shown.add({.source = name, .reason = error.what()});
    }
  }
  if (!documents.empty()) shown.add(intake.take_files(documents, invocation.user(database)));
}

ExitCode ingest(const IngestCommand& command, Invocation& invocation) {
  check_choice(command);
  ImapAccount account;
  if (!command.imap.empty()) {
    account = parse_imap_url(command.imap);
    account.password = read_secret(command.imap_password_file, "ERRAND_INVOICES_IMAP_PASSWORD");
    account.ca_file = command.imap_ca;
    if (account.password.empty()) {
      throw ConfigurationException{
          "the password for " + account.name() +
          " is missing; give it in $ERRAND_INVOICES_IMAP_PASSWORD or by --imap-password-file"};
    }
  }
  const std::unique_ptr<Database> database = invocation.database(Invocation::Missing::create);
  const Originals originals{invocation.originals()};
  Intake intake{*database, originals};
  OutcomeView shown{invocation.console, command.json, command.watch};
  terminal::ConsoleLogger logger{Logger::Level::info};
  const TellOutcome tell = [&](const IntakeOutcome& outcome) { shown.add(outcome); };
  if (!command.files.empty()) {
    take_files(command, invocation, *database, intake, shown);
    return shown.finish();
  }
  const terminal::StopSignals signals;
  const Stop stop{signals.token()};
  if (!command.maildir.empty()) {
    take_maildir(command.maildir, intake, invocation.chosen_user(*database), command.watch, stop,
                 tell, logger);
  } else {
    take_imap(account, intake, invocation.chosen_user(*database), command.watch, stop, tell,
              logger);
  }
  return shown.finish();
}

}  // namespace

void add_ingest(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<IngestCommand>();
  CLI::App& command =
      terminal::add_command(parent, "ingest", "Take in e-mails and files", kIntakeCommands);
  terminal::add_argument(command, "FILE", options->files,
                         "E-mails (.eml), each a task of its own; all other files (PDF, OFD, XML, "
                         "pictures, zip) together are one task of type batch_import");
  terminal::add_text(command, "--maildir", options->maildir, "DIRECTORY",
                     "Take in what is in new; what is stored moves to cur");
  terminal::add_text(command, "--imap", options->imap, "URL",
                     "Take in a mailbox: imaps://USER@HOST[:PORT][/MAILBOX]; what is stored gets "
                     "the keyword $ErrandStored");
  terminal::add_text(command, "--imap-password-file", options->imap_password_file,
                     terminal::kFileName,
                     "The password; without it $ERRAND_INVOICES_IMAP_PASSWORD");
  terminal::add_text(command, "--imap-ca", options->imap_ca, terminal::kFileName,
                     "Who signed the server's certificate, if the system does not know");
  terminal::add_flag(command, "--watch", options->watch,
                     "Go on until stopped, as mail arrives (--maildir, --imap)");
  terminal::add_text(
      command, "-u,--user", invocation.user_option, "USER",
      "Whose: an address or an id; without it $ERRAND_INVOICES_USER, else those whom "
      "the e-mail's addresses name (of files: the only user there is)")
      .not_empty();
  add_originals(command, invocation);
  add_json(command, options->json);
  add_dsn(command, invocation);
  terminal::add_examples(
      command, {
                   "errand-invoices ingest --user ann@example.com mail/*.eml",
                   "errand-invoices ingest --user ann@example.com scan.pdf invoice.ofd",
                   "errand-invoices ingest --maildir ~/Maildir --watch",
                   "errand-invoices ingest --imap imaps://invoices@mail.example/INBOX --watch",
               });
  runs(command, invocation, options, ingest);
}

}  // namespace errand::invoices
