#include "invoice_intake/store/database.hpp"

#include <array>
#include <stdexcept>

#include "errand/errors.hpp"

namespace errand::invoices {
namespace {

constexpr std::array<std::string_view, 3> kTablesOfUsers{"profiles", "email_processing_tasks",
                                                         "invoices"};

bool is_name_character(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::size_t count_words(std::string_view sql, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = sql.find(word); at != std::string_view::npos;
       at = sql.find(word, at + word.size())) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_name_character(sql[at - 1]);
    const bool ends = end == sql.size() || (!is_name_character(sql[end]) && sql[end] != '.');
    if (begins && ends) ++count;
  }
  return count;
}

std::size_t count_text(std::string_view sql, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = sql.find(text); at != std::string_view::npos;
       at = sql.find(text, at + text.size())) {
    ++count;
  }
  return count;
}

}  // namespace

void require_user(std::string_view sql) {
  std::size_t tables = 0;
  for (const std::string_view table : kTablesOfUsers) {
    for (const char* before : {"FROM ", "JOIN ", "UPDATE ", "INTO "}) {
      tables += count_words(sql, std::string{before} + std::string{table});
    }
  }
  const bool inserts_for_user =
      count_text(sql, "user_id,") > 0 && count_text(sql, "VALUES ($1,") == 1;
  const std::size_t held = count_text(sql, "user_id = $1") + (inserts_for_user ? 1 : 0);
  if (tables == 0 || held < tables) {
    throw std::logic_error{"a statement does not say whose rows it means: " + std::string{sql}};
  }
}

Rows Session::run(const std::string& sql, const std::vector<Text>& parameters) {
  require_user(sql);
  std::vector<Text> all;
  all.reserve(parameters.size() + 1);
  all.emplace_back(user_.text());
  all.insert(all.end(), parameters.begin(), parameters.end());
  return execute(sql, all);
}

std::unique_ptr<Database> open_database(const Dsn& dsn, const DatabaseOptions& options) {
  switch (dsn.kind()) {
    case EngineKind::sqlite:
      return open_sqlite_database(dsn, options);
    case EngineKind::postgres:
      return open_postgres_database(dsn);
    default:
      throw ConfigurationException{
          "invoices are kept in SQLite or PostgreSQL, and this DSN names " +
          std::string{to_string(dsn.kind())} + "; write sqlite:FILE or postgresql://…"};
  }
}

}  // namespace errand::invoices
