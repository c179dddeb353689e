#include "invoice_intake/store/sqlite_isolation.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace errand::invoices {
namespace {

struct UsersTable {
  std::string_view name;
  std::string_view user;  ///< the column
};
constexpr std::array<UsersTable, 3> kUsersTables{
    {{"profiles", "auth_user_id"}, {"email_processing_tasks", "user_id"}, {"invoices", "user_id"}}};

std::string views_and_triggers() {
  std::string sql = "PRAGMA temp_store = MEMORY;";
  for (const auto& [name_view, user_view] : kUsersTables) {
    const std::string name{name_view};
    const std::string user{user_view};
    const auto guard = [&](const std::string& verb, const std::string& foreign) {
      sql += "CREATE TEMP TRIGGER guard_" + name + "_" + verb + " BEFORE " + verb + " ON main." +
             name + " WHEN " + foreign +
             " BEGIN SELECT RAISE(ABORT, 'the row is another user''s'); END;";
    };
    sql += "CREATE TEMP VIEW " + name + " AS SELECT * FROM main." + name + " WHERE " + user +
           " = invoice_user();";
    guard("INSERT", "NEW." + user + " IS NOT invoice_user()");
    guard("UPDATE",
          "OLD." + user + " IS NOT invoice_user() OR NEW." + user + " IS NOT invoice_user()");
    guard("DELETE", "OLD." + user + " IS NOT invoice_user()");
  }
  return sql;
}

/// A view cannot be written, so what is written is the table, which the triggers guard.
std::string with_table(const std::string& sql) {
  for (const std::string_view verb : {"INSERT INTO ", "UPDATE ", "DELETE FROM "}) {
    if (sql.starts_with(verb)) {
      return std::string{verb} + "main." + sql.substr(verb.size());
    }
  }
  return sql;
}

bool is_users(const char* table) {
  return table != nullptr && std::ranges::any_of(kUsersTables, [&](const UsersTable& known) {
           return known.name == table;
         });
}

/// What a statement does, as the authorizer is told while it is prepared.
struct Access {
  bool selects = false;
  bool reads_tables = false;  ///< not through the views

  /// Only the first look: views and triggers may do what they were made for.
  int look(int action, const char* first, const char* database, const char* inside) {
    if (inside != nullptr) return SQLITE_OK;
    const bool is_main = database != nullptr && std::string_view{database} == "main";
    switch (action) {
      case SQLITE_SELECT:
        selects = true;
        return SQLITE_OK;
      case SQLITE_READ:
        if (!is_main) return SQLITE_OK;  // the views
        reads_tables = true;
        return is_users(first) ? SQLITE_OK : SQLITE_DENY;
      case SQLITE_INSERT:
      case SQLITE_UPDATE:
      case SQLITE_DELETE:
        return is_main && is_users(first) ? SQLITE_OK : SQLITE_DENY;
      case SQLITE_FUNCTION:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      default:
        return SQLITE_DENY;
    }
  }
};

int authorize(void* access, int action, const char* first, const char* /*second*/,
              const char* database, const char* inside) {
  return static_cast<Access*>(access)->look(action, first, database, inside);
}

void sql_user(sqlite3_context* context, int /*count*/, sqlite3_value** /*values*/) {
  const auto& user = *static_cast<std::optional<std::string>*>(sqlite3_user_data(context));
  if (user) {
    sqlite3_result_text64(context, user->data(), user->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else {
    sqlite3_result_null(context);
  }
}

}  // namespace

SqliteIsolation::SqliteIsolation(sqlite3* db) : db_{db} {
  int code = sqlite3_create_function(db_, "invoice_user", 0, SQLITE_UTF8, &user_, sql_user, nullptr,
                                     nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(db_, views_and_triggers().c_str(), nullptr, nullptr, nullptr);
  }
  if (code != SQLITE_OK) throw std::runtime_error{sqlite3_errmsg(db_)};
}

int SqliteIsolation::prepare(const std::string& sql, sqlite3_stmt** statement) const {
  Access access;
  sqlite3_set_authorizer(db_, authorize, &access);
  const int code = sqlite3_prepare_v2(db_, with_table(sql).c_str(), -1, statement, nullptr);
  sqlite3_set_authorizer(db_, nullptr, nullptr);
  // A SELECT inside an UPDATE cannot be told from the UPDATE's own look at its rows: neither is
  // needed, and both together are refused.
  if (code == SQLITE_AUTH || (access.selects && access.reads_tables)) {
    sqlite3_finalize(*statement);
    *statement = nullptr;
    throw std::logic_error{"a statement reaches past the rows of its user: " + sql};
  }
  return code;
}

}  // namespace errand::invoices
