#include "distributor_upgrade/store/database.hpp"

#include <charconv>

#include "errand/errors.hpp"

namespace errand::distributors {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& expected) {
  throw StorageException{"a column holds " + what + " where " + expected + " should be",
                         StorageException::Retry::useless};
}

}  // namespace

Parameter nullable(const std::optional<std::int64_t>& number) {
  if (!number) return nullptr;
  return *number;
}

Parameter nullable(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  return *text;
}

const std::string& Value::text() const {
  if (!text_) refuse("NULL", "a value");
  return *text_;
}

std::int64_t Value::number() const {
  std::int64_t number = 0;
  const std::string& digits = text();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    refuse("'" + digits.substr(0, 40) + "'", "a whole number");
  }
  return number;
}

std::optional<std::int64_t> Value::optional_number() const {
  if (is_null()) return std::nullopt;
  return number();
}

Timestamp Value::time() const {
  const std::optional<Timestamp> time = parse_sql_time(text());
  if (!time) refuse("'" + text().substr(0, 40) + "'", "a time");
  return *time;
}

std::optional<Timestamp> Value::optional_time() const {
  if (is_null()) return std::nullopt;
  return time();
}

std::unique_ptr<Database> open_database(const Dsn& dsn, const DatabaseOptions& options) {
  switch (dsn.kind()) {
    case EngineKind::sqlite:
      return open_sqlite_database(dsn, options);
    case EngineKind::postgres:
      return open_postgres_database(dsn, options);
    default:
      throw ConfigurationException{dsn.to_string() +
                                   ": distributors are kept in SQLite or PostgreSQL; write "
                                   "sqlite:FILE or postgresql://…"};
  }
}

void require_tables(Database& database) {
  constexpr std::int64_t kVersion = 1;
  database.read([](Session& session) {
    if (!session.has_table("distributor_rules")) {
      throw StorageException{
          "this database has no tables for distributors; make them with errand-distributors setup",
          StorageException::Retry::useless};
    }
    const Answer rules = session.run("SELECT version FROM distributor_rules");
    const std::int64_t version = rules.rows.empty() ? 0 : rules.rows[0].at(0).number();
    if (version != kVersion) {
      throw StorageException{"the tables for distributors are of version " +
                                 std::to_string(version) + ", and this program knows version " +
                                 std::to_string(kVersion) +
                                 "; use the errand-distributors that made them",
                             StorageException::Retry::useless};
    }
  });
}

}  // namespace errand::distributors
