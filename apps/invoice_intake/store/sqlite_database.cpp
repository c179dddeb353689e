#include <boost/json/value.hpp>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sqlite3.h>
#include <type_traits>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"
#include "errand/sqlite.hpp"

#include "errand_invoice_store_embedded.hpp"
#include "invoice_intake/store/columns.hpp"
#include "invoice_intake/store/database.hpp"
#include "invoice_intake/store/json_contains.hpp"
#include "invoice_intake/store/sqlite_isolation.hpp"

namespace errand::invoices {
namespace {

using Retry = StorageException::Retry;

[[noreturn]] void fail(sqlite3* db, int code) {
  const int kind = code & 0xff;
  const Retry retry = kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_NOMEM
                          ? Retry::helps
                          : Retry::useless;
  throw StorageException{
      std::string{"SQLite: "} + (db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code)), retry};
}

/// json_contains(document, part): PostgreSQL's `document @> part`.
void sql_json_contains(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const auto text = [&](int index) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(values[index]));
    return std::string_view{
        bytes != nullptr ? bytes : "null",
        bytes != nullptr ? static_cast<std::size_t>(sqlite3_value_bytes(values[index])) : 4};
  };
  try {
    sqlite3_result_int(context, json_contains(parse_json(text(0)), parse_json(text(1))) ? 1 : 0);
  } catch (const std::exception& error) {
    sqlite3_result_error(context, error.what(), -1);
  }
}

class SqliteConnection {
 public:
  SqliteConnection(const std::string& path, bool create) {
    sqlite3* db = nullptr;
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    const int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
    db_.reset(db);
    if (code != SQLITE_OK) {
      throw StorageException{"cannot open " + path + ": " + sqlite3_errstr(code) +
                                 "; `errand-invoices setup` makes it",
                             Retry::useless};
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, 30'000);
    sqlite3_create_function(db, "json_contains", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                            sql_json_contains, nullptr, nullptr);
    execute("PRAGMA foreign_keys = ON");
  }

  [[nodiscard]] sqlite3* handle() const noexcept { return db_.get(); }

  void execute(const std::string& sql) {
    const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(db_.get(), code);
  }

  /// On nobody's behalf.
  Rows query(const std::string& sql, const std::vector<Text>& parameters) {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr);
    return run(raw, code, parameters);
  }

  /// On behalf of the user that is set.
  Rows query_as_user(const std::string& sql, const std::vector<Text>& parameters) {
    sqlite3_stmt* raw = nullptr;
    const int code = isolation().prepare(sql, &raw);
    return run(raw, code, parameters);
  }

  void set_user(std::optional<std::string> user) { isolation().set_user(std::move(user)); }

  /// Outside of a transaction, which would take the views with it when it is rolled back.
  void isolate() { isolation(); }

 private:
  /// Made when it is first needed: by then the tables are there.
  SqliteIsolation& isolation() {
    if (!isolation_) isolation_.emplace(db_.get());
    return *isolation_;
  }

  Rows run(sqlite3_stmt* raw, int code, const std::vector<Text>& parameters) {
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement{raw,
                                                                               &sqlite3_finalize};
    if (code != SQLITE_OK) fail(db_.get(), code);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      // Named, because SQLite numbers `$2` by where it stands.
      const std::string name = "$" + std::to_string(i + 1);
      const int index = sqlite3_bind_parameter_index(raw, name.c_str());
      if (index == 0 || !parameters[i]) continue;
      sqlite3_bind_text64(raw, index, parameters[i]->data(), parameters[i]->size(), SQLITE_STATIC,
                          SQLITE_UTF8);
    }
    Rows result;
    const int before = sqlite3_total_changes(db_.get());
    while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
      std::vector<Text>& row = result.rows.emplace_back();
      for (int column = 0; column < sqlite3_column_count(raw); ++column) {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(raw, column));
        if (bytes == nullptr) {
          row.emplace_back(std::nullopt);
        } else {
          row.emplace_back(
              std::string{bytes, static_cast<std::size_t>(sqlite3_column_bytes(raw, column))});
        }
      }
    }
    if (code != SQLITE_DONE) fail(db_.get(), code);
    result.affected = sqlite3_stmt_readonly(raw) != 0 || sqlite3_total_changes(db_.get()) == before
                          ? 0
                          : static_cast<std::size_t>(sqlite3_changes(db_.get()));
    return result;
  }

  struct Close {
    void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
  std::optional<SqliteIsolation> isolation_;
};

class SqliteSession final : public Session {
 public:
  SqliteSession(SqliteConnection& connection, UserId user, const Clock& clock)
      : Session{std::move(user)}, connection_{connection}, clock_{clock}, now_{clock.now()} {
    connection_.set_user(this->user().text());
  }
  ~SqliteSession() override { connection_.set_user(std::nullopt); }
  SqliteSession(const SqliteSession&) = delete;
  SqliteSession& operator=(const SqliteSession&) = delete;

  [[nodiscard]] Timestamp now() const override { return now_; }

  void submit(const NewTask& task) override {
    submit_in_transaction(connection_.handle(), {&task, 1}, clock_);
  }

  [[nodiscard]] std::string contains(std::string_view column,
                                     std::string_view parameter) const override {
    return "json_contains(" + std::string{column} + ", " + std::string{parameter} + ")";
  }

 private:
  Rows execute(const std::string& sql, const std::vector<Text>& parameters) override {
    return connection_.query_as_user(sql, parameters);
  }

  SqliteConnection& connection_;
  const Clock& clock_;
  const Timestamp now_;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(const Dsn& dsn, const DatabaseOptions& options)
      : path_{dsn.path()}, clock_{*options.clock} {
    if (!options.create && !std::filesystem::exists(path_)) {
      throw StorageException{
          path_ + " does not exist; `errand-invoices setup` or `user add` makes it",
          Retry::useless};
    }
    auto connection = std::make_unique<SqliteConnection>(path_, options.create);
    if (options.create) create_tables(*connection);
    check_tables(*connection);
    idle_.push_back(std::move(connection));
  }

  [[nodiscard]] EngineKind kind() const noexcept override { return EngineKind::sqlite; }

  void read(const UserId& user, const Body& body) override { transact("BEGIN", user, body); }
  void write(const UserId& user, const Body& body) override {
    transact("BEGIN IMMEDIATE", user, body);
  }

  std::string complete(Engine& /*engine*/, TaskContext& /*context*/, const UserId& user,
                       const std::function<std::string(Session&)>& body) override {
    std::string result;
    write(user, [&](Session& session) { result = body(session); });
    return result;
  }

  [[nodiscard]] std::vector<Profile> profiles() override {
    return find_profiles("deleted_at IS NULL ORDER BY email", {});
  }

  [[nodiscard]] std::optional<Profile> profile_of(const std::string& email) override {
    std::vector<Profile> found = find_profiles("deleted_at IS NULL AND email = $1", {email});
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  }

  void analyse() override {
    with_connection([](SqliteConnection& connection) { connection.execute("ANALYZE main"); });
  }

 private:
  /// Borrowed for one transaction; gone with it if it did not end well.
  template <class Use>
  std::invoke_result_t<Use&, SqliteConnection&> with_connection(Use&& use) {
    std::unique_ptr<SqliteConnection> connection = take();
    struct Return {
      SqliteDatabase& owner;
      std::unique_ptr<SqliteConnection>& connection;
      ~Return() {
        if (sqlite3_get_autocommit(connection->handle()) != 0)
          owner.give_back(std::move(connection));
      }
    };
    const Return at_end{*this, connection};
    return use(*connection);
  }

  std::unique_ptr<SqliteConnection> take() {
    {
      const std::lock_guard lock{mutex_};
      if (!idle_.empty()) {
        std::unique_ptr<SqliteConnection> connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return std::make_unique<SqliteConnection>(path_, false);
  }

  void give_back(std::unique_ptr<SqliteConnection> connection) {
    const std::lock_guard lock{mutex_};
    idle_.push_back(std::move(connection));
  }

  void transact(const char* begin, const UserId& user, const Body& body) {
    with_connection([&](SqliteConnection& connection) {
      connection.isolate();
      connection.execute(begin);
      try {
        SqliteSession session{connection, user, clock_};
        body(session);
        connection.execute("COMMIT");
      } catch (...) {
        sqlite3_exec(connection.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
      }
    });
  }

  std::vector<Profile> find_profiles(const std::string& condition,
                                     const std::vector<Text>& parameters) {
    return with_connection([&](SqliteConnection& connection) {
      return read_profiles(connection.query(
          "SELECT auth_user_id, email, display_name, created_at FROM main.profiles "
          "WHERE " +
              condition,
          parameters));
    });
  }

  static bool has_tables(SqliteConnection& connection) {
    return !connection
                .query(
                    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'invoice_schema'",
                    {})
                .rows.empty();
  }

  static void create_tables(SqliteConnection& connection) {
    if (has_tables(connection)) return;
    connection.execute("BEGIN IMMEDIATE");
    try {
      // Another process may have been quicker.
      if (!has_tables(connection)) connection.execute(std::string{schema::k_sqlite_schema});
      connection.execute("COMMIT");
    } catch (...) {
      sqlite3_exec(connection.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  void check_tables(SqliteConnection& connection) const {
    if (has_tables(connection)) {
      check_schema_version(
          integer_of(connection.query("SELECT max(version) FROM invoice_schema", {}).rows[0][0]));
      return;
    }
    throw StorageException{path_ + " has no tables for invoices; run `errand-invoices setup`",
                           Retry::useless};
  }

  const std::string path_;
  const Clock& clock_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SqliteConnection>> idle_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite_database(const Dsn& dsn, const DatabaseOptions& options) {
  return std::make_unique<SqliteDatabase>(dsn, options);
}

}  // namespace errand::invoices
