#include "invoice_intake/commands/invocation.hpp"

#include <cstdlib>
#include <fstream>

#include "errand/errors.hpp"

#include "invoice_intake/store/profiles.hpp"

namespace errand::invoices {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// What `read` gives. Of the forms that a DSN may have, this program reads two.
template <class Read>
Dsn with_our_forms(Read&& read) {
  try {
    return read();
  } catch (const ConfigurationException& error) {
    const std::string reason = error.what();
    throw ConfigurationException{reason.substr(0, reason.find("; the forms are")) +
                                 "; write sqlite:FILE or postgresql://USER@HOST[:PORT]/DATABASE"};
  }
}

}  // namespace

Dsn Invocation::dsn() const {
  if (!dsn_option.empty() && !with_our_forms([&] { return Dsn{dsn_option}; }).password().empty()) {
    throw ConfigurationException{
        "--dsn: a password on the command line can be seen by everybody on this machine; put the "
        "DSN into $ERRAND_DSN, or the password into ~/.pgpass or $PGPASSWORD"};
  }
  return with_our_forms([&] { return Dsn::from_environment(dsn_option); });
}

std::unique_ptr<Database> Invocation::database(Missing missing) const {
  const Dsn where = dsn();
  if (where.kind() == EngineKind::sqlite && missing == Missing::is_an_error &&
      !std::filesystem::exists(where.path())) {
    return open_database(where);  // says what to do
  }
  // Errand's tables first: both are one file, and tasks are submitted in our transactions.
  if (where.kind() == EngineKind::sqlite) static_cast<void>(open_engine(where));
  return open_database(where, {.create = true});
}

std::filesystem::path Invocation::originals() const {
  if (!originals_option.empty()) return originals_option;
  if (std::string directory = environment("ERRAND_INVOICES_ORIGINALS"); !directory.empty()) {
    return directory;
  }
  const Dsn where = dsn();
  if (where.kind() == EngineKind::sqlite) return where.path() + "-originals";
  throw ConfigurationException{
      "where are the originals? Name a directory that all programs on this database share, by "
      "--originals DIRECTORY or $ERRAND_INVOICES_ORIGINALS"};
}

std::optional<Profile> Invocation::chosen_user(Database& database) const {
  std::string text = user_option.empty() ? environment("ERRAND_INVOICES_USER") : user_option;
  if (text.empty()) return std::nullopt;
  return find_profile(database, text);
}

Profile Invocation::user(Database& database) const {
  if (std::optional<Profile> chosen = chosen_user(database)) return std::move(*chosen);
  std::vector<Profile> all = database.profiles();
  if (all.size() == 1) return std::move(all.front());
  throw ConfigurationException{
      all.empty() ? "there are no users yet; add one: errand-invoices user add ann@example.com"
                  : "which user? Name one by --user ADDRESS or $ERRAND_INVOICES_USER; "
                    "`errand-invoices user list` shows who there is"};
}

std::string read_secret(const std::string& file, const char* variable) {
  if (file.empty()) return environment(variable);
  std::ifstream stream{file};
  std::string secret;
  if (!std::getline(stream, secret) || secret.empty()) {
    throw ConfigurationException{file + " cannot be read, or holds no password"};
  }
  if (secret.back() == '\r') secret.pop_back();
  return secret;
}

}  // namespace errand::invoices
