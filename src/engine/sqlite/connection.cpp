#include "engine/sqlite/connection.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

namespace errand::sqlite {
namespace {

using Retry = StorageException::Retry;

Retry retry_for(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return Retry::helps;
    default:
      return Retry::useless;
  }
}

const char* next_step(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process holds the file: look for a long transaction, or raise "
             "?busy_timeout=SECONDS";
    case SQLITE_READONLY:
      return "; the file or its directory is not writable for this user";
    case SQLITE_FULL:
      return "; free some space";
    case SQLITE_CANTOPEN:
      return "; the directory must exist and be writable for this user";
    case SQLITE_NOTADB:
      return "; the DSN names a file that is not an SQLite database";
    case SQLITE_CORRUPT:
      return "; restore a backup, or save what can be read with sqlite3's .recover";
    default:
      return "";
  }
}

[[noreturn]] void fail(sqlite3* db, int code, const std::string& doing) {
  const char* detail = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  throw StorageException{"SQLite, " + doing + ": " + detail + next_step(code), retry_for(code)};
}

}  // namespace

Statement::Statement(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(db, code, "preparing a statement");
  statement_.reset(statement);
}

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  // An empty view may have a null pointer, which SQLite would take for NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  const int code =
      sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(sqlite3_db_handle(statement_.get()), code, "binding a text");
  return *this;
}

Statement& Statement::bind(int index, const std::optional<std::string>& text) {
  return text ? bind(index, std::string_view{*text}) : bind_null(index);
}

Statement& Statement::bind_null(int index) {
  sqlite3_bind_null(statement_.get(), index);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  sqlite3* db = sqlite3_db_handle(statement_.get());
  const std::string detail = sqlite3_errmsg(db);
  reset();
  throw StorageException{"SQLite: " + detail + next_step(code), retry_for(code)};
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() noexcept { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::optional<std::string> Statement::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return std::string{text(column)};
}

Connection::Connection(const Settings& settings) : busy_timeout_{settings.busy_timeout} {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= settings.mode == Mode::look ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (settings.mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(settings.path.c_str(), &db, flags, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) fail(db, code, "opening " + settings.path);
  sqlite3_busy_handler(db, &Connection::on_busy, this);
  try {
    if (settings.mode == Mode::create) execute("PRAGMA journal_mode = WAL");
    execute(settings.synchronous_full ? "PRAGMA synchronous = FULL"
                                      : "PRAGMA synchronous = NORMAL");
    // A larger WAL makes a checkpoint move each hot page once instead of many times.
    execute("PRAGMA wal_autocheckpoint = 4000");
    execute("PRAGMA journal_size_limit = 67108864");
    execute("PRAGMA cache_size = -32768");
    execute("PRAGMA temp_store = MEMORY");
  } catch (const StorageException& error) {
    throw StorageException{"cannot use " + settings.path + ": " + error.what(), error.retry()};
  }
}

Statement& Connection::prepare(const char* sql) {
  if (auto known = statements_.find(sql); known != statements_.end()) {
    known->second.reset();
    return known->second;
  }
  return statements_.try_emplace(sql, db_.get(), sql).first->second;
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(db_.get(), code, "executing " + sql.substr(0, 60));
}

void Connection::reset_statements() noexcept {
  for (auto& [sql, statement] : statements_) statement.reset();
}

/// SQLite's own handler sleeps for up to 100 ms at a time; a queue cannot wait that long for a
/// transaction that takes one.
int Connection::on_busy(void* self, int tries) noexcept {
  auto* connection = static_cast<Connection*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (tries == 0) connection->busy_since_ = now;
  if (now - connection->busy_since_ > connection->busy_timeout_) return 0;
  std::this_thread::sleep_for(std::chrono::microseconds{std::min(200 * (tries + 1), 5000)});
  return 1;
}

WriteTransaction::WriteTransaction(Connection& connection) : connection_{connection} {
  connection_.prepare("BEGIN IMMEDIATE").run();
}

WriteTransaction::~WriteTransaction() {
  if (committed_) return;
  connection_.reset_statements();
  if (!connection_.in_transaction()) return;
  try {
    connection_.prepare("ROLLBACK").run();
  } catch (const StorageException&) {
    // SQLite has rolled back by itself already, which is why it refuses; nothing is left to undo.
  }
}

void WriteTransaction::commit() {
  try {
    connection_.prepare("COMMIT").run();
    committed_ = true;
  } catch (const StorageException& error) {
    // A failed write to the log may have reached the disk all the same, and a later recovery
    // would then find the transaction complete.
    const bool not_begun = error.retry() == StorageException::Retry::helps;
    throw StorageException{error.what(),
                           not_begun ? error.retry() : StorageException::Retry::in_doubt};
  }
}

ReadTransaction::ReadTransaction(Connection& connection) : connection_{connection} {
  connection_.prepare("BEGIN").run();
}

ReadTransaction::~ReadTransaction() {
  if (std::uncaught_exceptions() > exceptions_before_) connection_.reset_statements();
  try {
    connection_.prepare("COMMIT").run();
  } catch (const StorageException&) {
    // Nothing was written; closing the snapshot cannot lose anything.
  }
}

}  // namespace errand::sqlite
