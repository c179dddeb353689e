#pragma once

#include <optional>
#include <sqlite3.h>
#include <string>

namespace errand::invoices {

/// What PostgreSQL's row-level security does, for one SQLite connection: while a user is set,
///
/// - the names of users' tables are views of that user's rows;
/// - a row that is or becomes another user's cannot be written: triggers refuse it;
/// - SQLite's authorizer refuses statements that go round the views, or to other tables.
///
/// Views and triggers are temporary: they are the connection's own, and nothing of the file.
class SqliteIsolation {
 public:
  /// `db` must outlive this, and its tables must exist. Throws std::runtime_error if SQLite
  /// refuses.
  explicit SqliteIsolation(sqlite3* db);
  SqliteIsolation(const SqliteIsolation&) = delete;
  SqliteIsolation& operator=(const SqliteIsolation&) = delete;

  /// nullopt: nobody; there are no rows then, and none can be written.
  void set_user(std::optional<std::string> user) { user_ = std::move(user); }

  /// Prepares one statement of a session. The caller finalizes it. Returns SQLite's code; throws
  /// std::logic_error if it reaches past the user's rows: a mistake in this program.
  int prepare(const std::string& sql, sqlite3_stmt** statement) const;

 private:
  sqlite3* db_;
  std::optional<std::string> user_;
};

}  // namespace errand::invoices
