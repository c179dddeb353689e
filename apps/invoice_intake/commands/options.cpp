#include "terminal/options.hpp"

#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"

namespace errand::invoices {

void add_dsn(CLI::App& command, Invocation& invocation) {
  terminal::add_text(command, "--dsn", invocation.dsn_option, "DSN",
                     "Where everything is: sqlite:FILE or postgresql://…; without it $ERRAND_DSN, "
                     "else sqlite:errand.db")
      .not_empty()
      .common();
}

void add_user_option(CLI::App& command, Invocation& invocation) {
  terminal::add_text(command, "-u,--user", invocation.user_option, "USER",
                     "Whose: an address or an id; without it $ERRAND_INVOICES_USER, else the only "
                     "user there is")
      .not_empty();
}

void add_originals(CLI::App& command, Invocation& invocation) {
  terminal::add_text(command, "--originals", invocation.originals_option, "DIRECTORY",
                     "Where e-mails and files are kept as they came; without it "
                     "$ERRAND_INVOICES_ORIGINALS, else beside the SQLite file")
      .not_empty();
}

void add_extractor(CLI::App& command, Invocation& invocation) {
  terminal::add_text(command, "--extractor", invocation.extractor_option, terminal::kFileName,
                     "The program errand-invoice-extractor, if it is not beside this one")
      .not_empty();
}

Timestamp parse_moment(const std::string& text, const std::string& option) {
  std::optional<Timestamp> moment = parse_iso8601(text);
  if (!moment && text.size() == 10) moment = parse_iso8601(text + "T00:00:00Z");
  if (moment) return *moment;
  throw ValidationException{option + ": `" + text +
                            "` is neither a day, as 2026-01-31, nor a moment, as "
                            "2026-01-31T12:00:00Z"};
}

}  // namespace errand::invoices
