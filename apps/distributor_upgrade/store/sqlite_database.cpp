#include <filesystem>
#include <sqlite3.h>
#include <unordered_map>
#include <utility>

#include "errand/errors.hpp"
#include "errand/sqlite.hpp"

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/store/dsn_options.hpp"
#include "distributor_upgrade/store/idle_connections.hpp"
#include "errand_distributor_upgrade_embedded.hpp"

namespace errand::distributors {
namespace {

using Retry = StorageException::Retry;

[[noreturn]] void fail(sqlite3* db, int code) {
  const int kind = code & 0xff;
  const bool passing = kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_NOMEM;
  throw StorageException{
      std::string{"SQLite: "} + (db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code)),
      passing ? Retry::helps : Retry::useless};
}

struct Close {
  void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

class SqliteConnection {
 public:
  SqliteConnection(const Dsn& dsn, bool create) {
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    sqlite3* db = nullptr;
    const int code = sqlite3_open_v2(dsn.path().c_str(), &db, flags, nullptr);
    db_.reset(db);
    if (code != SQLITE_OK) {
      throw StorageException{"cannot open " + dsn.path() + ": " + sqlite3_errstr(code),
                             Retry::useless};
    }
    sqlite3_extended_result_codes(db, 1);
    // As the transport in the same file does, which has checked the options by now.
    const std::string busy{dsn.option("busy_timeout").value_or("30")};
    sqlite3_busy_timeout(db, 1000 * std::atoi(busy.c_str()));
    execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = " +
            std::string{dsn.option("synchronous") == "normal" ? "NORMAL" : "FULL"});
  }

  [[nodiscard]] sqlite3* handle() const noexcept { return db_.get(); }

  void execute(const std::string& sql) {
    const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(db_.get(), code);
  }

  Answer query(const std::string& sql, const std::vector<Parameter>& parameters) {
    sqlite3_stmt* statement = prepared(sql);
    struct Reset {
      sqlite3_stmt* statement;
      ~Reset() {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
      }
    };
    const Reset at_end{statement};
    for (std::size_t i = 0; i < parameters.size(); ++i) bind(statement, i, parameters[i]);
    Answer answer;
    int code = SQLITE_OK;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) answer.rows.push_back(row_of(statement));
    if (code != SQLITE_DONE) fail(db_.get(), code);
    if (sqlite3_stmt_readonly(statement) == 0) answer.changed = sqlite3_changes64(db_.get());
    return answer;
  }

 private:
  /// Most statements come again; those with a list of ids in them do not, and would pile up.
  sqlite3_stmt* prepared(const std::string& sql) {
    constexpr std::size_t kMostKept = 64;
    const auto found = statements_.find(sql);
    if (found != statements_.end()) return found->second.get();
    if (statements_.size() == kMostKept) statements_.clear();
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr);
    if (code != SQLITE_OK) fail(db_.get(), code);
    return statements_.emplace(sql, statement).first->second.get();
  }

  /// By name, because SQLite numbers `$2` by where it stands.
  static void bind(sqlite3_stmt* statement, std::size_t position, const Parameter& parameter) {
    const std::string name = "$" + std::to_string(position + 1);
    const int index = sqlite3_bind_parameter_index(statement, name.c_str());
    if (const auto* number = std::get_if<std::int64_t>(&parameter)) {
      sqlite3_bind_int64(statement, index, *number);
    } else if (const auto* text = std::get_if<std::string>(&parameter)) {
      sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    }
  }

  static Row row_of(sqlite3_stmt* statement) {
    Row row;
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      row.push_back(text == nullptr ? Value{} : Value{std::string{text, size}});
    }
    return row;
  }

  std::unique_ptr<sqlite3, Close> db_;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

class SqliteSession final : public Session {
 public:
  SqliteSession(SqliteConnection& connection, Timestamp now) : connection_{connection}, now_{now} {}

  Answer run(const std::string& sql, const std::vector<Parameter>& parameters) override {
    return connection_.query(sql, parameters);
  }
  void send(const Transport& to, std::span<const Outgoing> messages) override {
    send_in_transaction(connection_.handle(), to, messages);
  }
  [[nodiscard]] bool has_table(const std::string& name) override {
    return !run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", {name})
                .rows.empty();
  }
  [[nodiscard]] std::string sponsored_by(std::string_view member) const override {
    return "JOIN distributor d ON d.sponsor_id = " + std::string{member};
  }
  [[nodiscard]] Timestamp now() const noexcept override { return now_; }

 private:
  SqliteConnection& connection_;
  const Timestamp now_;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(const Dsn& dsn, const DatabaseOptions& options)
      : dsn_{dsn}, clock_{*options.clock} {
    if (!options.create && !std::filesystem::exists(dsn.path())) {
      throw StorageException{dsn.path() + " does not exist; make it with errand-distributors setup",
                             Retry::useless};
    }
    auto connection = std::make_unique<SqliteConnection>(dsn_, options.create);
    // Checked by reading: opening alone does not look at the file.
    connection->query("SELECT count(*) FROM sqlite_master", {});
    idle_.give_back(std::move(connection));
  }

  void read(const Body& body) override { transact("BEGIN", body); }

  /// Whoever began by reading could not wait for another writer without reading again.
  void write(const Body& body) override { transact("BEGIN IMMEDIATE", body); }

  void setup() override {
    with_connection([](SqliteConnection& connection) {
      connection.execute("PRAGMA journal_mode = WAL");
      connection.execute("BEGIN IMMEDIATE");
      Rollback rollback{connection};
      connection.execute(std::string{schema::k_sqlite_schema});
      rollback.commit();
    });
  }

 private:
  class Rollback {
   public:
    explicit Rollback(SqliteConnection& connection) : connection_{connection} {}
    ~Rollback() {
      if (sqlite3_get_autocommit(connection_.handle()) == 0) {
        sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
      }
    }
    Rollback(const Rollback&) = delete;
    Rollback& operator=(const Rollback&) = delete;

    void commit() { connection_.execute("COMMIT"); }

   private:
    SqliteConnection& connection_;
  };

  template <class Use>
  void with_connection(Use&& use) {
    std::unique_ptr<SqliteConnection> connection = idle_.take();
    if (connection == nullptr) connection = std::make_unique<SqliteConnection>(dsn_, false);
    use(*connection);
    idle_.give_back(std::move(connection));
  }

  void transact(const char* begin, const Body& body) {
    with_connection([&](SqliteConnection& connection) {
      connection.execute(begin);
      Rollback rollback{connection};
      SqliteSession session{connection, clock_.now()};
      body(session);
      rollback.commit();
    });
  }

  const Dsn dsn_;
  const Clock& clock_;
  IdleConnections<SqliteConnection> idle_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite_database(const Dsn& dsn, const DatabaseOptions& options) {
  check_sqlite_options(dsn);
  return std::make_unique<SqliteDatabase>(dsn, options);
}

}  // namespace errand::distributors
