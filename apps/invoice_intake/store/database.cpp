#include "invoice_intake/store/database.hpp"

#include "errand/errors.hpp"

namespace errand::invoices {
Rows Session::run(const std::string& sql, const std::vector<Text>& parameters) {
  std::vector<Text> all;
  all.reserve(parameters.size() + 1);
  all.emplace_back(user_.text());
  all.insert(all.end(), parameters.begin(), parameters.end());
  return execute(sql, all);
}

void check_schema_version(int version) {
  if (version == kSchemaVersion) return;
  throw StorageException{
      "the tables for invoices are of version " + std::to_string(version) +
          ", and this program knows version " + std::to_string(kSchemaVersion) +
          (version > kSchemaVersion ? "; use a newer errand-invoices"
                                    : "; let their owner run `errand-invoices setup`"),
      StorageException::Retry::useless};
}

std::unique_ptr<Database> open_database(const Dsn& dsn, const DatabaseOptions& options) {
  switch (dsn.kind()) {
    case EngineKind::sqlite:
      return open_sqlite_database(dsn, options);
    case EngineKind::postgres:
      return open_postgres_database(dsn, options);
    default:
      throw ConfigurationException{
          "invoices are kept in SQLite or PostgreSQL, and this DSN names " +
          std::string{to_string(dsn.kind())} + "; write sqlite:FILE or postgresql://…"};
  }
}

}  // namespace errand::invoices
