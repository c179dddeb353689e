#include "invoice_intake/store/setup.hpp"

#include <algorithm>
#include <memory>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "errand_invoice_store_embedded.hpp"
#include "invoice_intake/store/database.hpp"
#include "invoice_intake/store/postgres_connection.hpp"

namespace errand::invoices {
namespace {

/// Setups of one database wait for each other.
constexpr const char* kBegin = "BEGIN; SELECT pg_advisory_xact_lock(72873846)";

/// An index on JSON is of no use under row-level security unless the operator is known not to leak
/// what it looks at: the server would have to evaluate it on other users' rows. `@>` of jsonb
/// returns a truth value and raises no errors that depend on its arguments.
constexpr const char* kLeakproof =
    "ALTER FUNCTION pg_catalog.jsonb_contains(jsonb, jsonb) LEAKPROOF";

void check_role_name(const std::string& role) {
  const bool fits = !role.empty() && role.size() <= 63 && role[0] != '_' &&
                    !(role[0] >= '0' && role[0] <= '9') && std::ranges::all_of(role, [](char c) {
                      return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
                    });
  if (!fits) {
    throw ConfigurationException{"--role: `" + role +
                                 "` is not a name of lower-case letters, digits and _"};
  }
}

std::string for_role(std::string_view script, const std::string& role) {
  std::string text{script};
  constexpr std::string_view kPlace = "{role}";
  for (std::size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at)) {
    text.replace(at, kPlace.size(), role);
  }
  return text;
}

bool answers_yes(PGconn* connection, const std::string& question) {
  const Rows rows = run_script(connection, "SELECT 1 WHERE " + question);
  return !rows.rows.empty();
}

/// libpq encrypts it, so that neither the server's log nor its statistics can show it.
void set_password(PGconn* connection, const std::string& role, const std::string& password) {
  const std::unique_ptr<char, decltype(&PQfreemem)> encrypted{
      PQencryptPasswordConn(connection, password.c_str(), role.c_str(), nullptr), &PQfreemem};
  if (encrypted == nullptr) {
    throw StorageException{"libpq cannot encrypt the password of " + role,
                           StorageException::Retry::useless};
  }
  const std::unique_ptr<char, decltype(&PQfreemem)> literal{
      PQescapeLiteral(connection, encrypted.get(), std::string_view{encrypted.get()}.size()),
      &PQfreemem};
  run_script(connection, "ALTER ROLE " + role + " PASSWORD " + literal.get());
}

SetupReport set_up_postgres(const Dsn& dsn, const SetupOptions& options) {
  check_role_name(options.role);
  SetupReport report;
  const PostgresConnection connection{libpq_uri(dsn)};
  PGconn* handle = connection.handle();
  run_script(handle, kBegin);
  report.created = !answers_yes(handle,
                                "EXISTS (SELECT FROM pg_tables WHERE tablename = 'invoice_schema' "
                                "AND schemaname = current_schema())");
  if (report.created) run_script(handle, std::string{schema::k_postgres_schema});
  run_script(handle, for_role(schema::k_postgres_grants, options.role));
  if (options.role_password) set_password(handle, options.role, *options.role_password);
  if (answers_yes(handle, "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)")) {
    run_script(handle, kLeakproof);
  } else if (!answers_yes(handle,
                          "(SELECT proleakproof FROM pg_proc "
                          "WHERE oid = 'pg_catalog.jsonb_contains(jsonb, jsonb)'::regprocedure)")) {
    report.notes.push_back("filters by JSON cannot use their indexes until a superuser runs: " +
                           std::string{kLeakproof});
  }
  if (answers_yes(handle, "EXISTS (SELECT FROM pg_roles WHERE rolname = '" + options.role +
                              "' AND (rolsuper OR rolbypassrls))")) {
    throw StorageException{"the role " + options.role +
                               " may bypass row-level security; run ALTER ROLE " + options.role +
                               " NOSUPERUSER NOBYPASSRLS, or choose another one by --role",
                           StorageException::Retry::useless};
  }
  commit(handle);
  return report;
}

}  // namespace

SetupReport set_up(const Dsn& dsn, const SetupOptions& options) {
  if (dsn.kind() != EngineKind::sqlite && dsn.kind() != EngineKind::postgres) {
    static_cast<void>(open_database(dsn));  // says which engines there are
  }
  {
    EngineOptions engine;
    engine.open = EngineOptions::Open::any_schema;
    open_engine(dsn, engine)->schema().migrate();
  }
  if (dsn.kind() == EngineKind::postgres) return set_up_postgres(dsn, options);
  SetupReport report;
  try {
    static_cast<void>(open_sqlite_database(dsn, {}));
  } catch (const StorageException&) {
    report.created = true;
  }
  static_cast<void>(open_sqlite_database(dsn, {.create = true}));
  return report;
}

std::string setup_script(const Dsn& dsn) {
  std::string script = schema_script(dsn);
  if (dsn.kind() == EngineKind::sqlite) return script + "\n" + std::string{schema::k_sqlite_schema};
  return script + "\n" + std::string{schema::k_postgres_schema} + "\n" +
         for_role(schema::k_postgres_grants, kProgramRole) + "\n" + kLeakproof + ";\n";
}

}  // namespace errand::invoices
