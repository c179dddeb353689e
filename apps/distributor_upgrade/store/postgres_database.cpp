#include <algorithm>
#include <charconv>
#include <libpq-fe.h>
#include <utility>

#include "errand/errors.hpp"
#include "errand/postgres.hpp"

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/store/dsn_options.hpp"
#include "distributor_upgrade/store/idle_connections.hpp"
#include "errand_distributor_upgrade_embedded.hpp"

namespace errand::distributors {
namespace {

using Retry = StorageException::Retry;

struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

struct Finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};

std::string one_line(const char* message) {
  std::string text{message};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Whether the same statement may succeed later: the server rolled it back for another's sake, has
/// no room at present, or is going down.
bool is_passing(std::string_view state) {
  return state.starts_with("40") || state.starts_with("53") || state.starts_with("57") ||
         state == "55P03";
}

class PostgresConnection {
 public:
  explicit PostgresConnection(const std::string& uri) : connection_{PQconnectdb(uri.c_str())} {
    if (PQstatus(handle()) != CONNECTION_OK) {
      throw StorageException{"cannot reach PostgreSQL: " + one_line(PQerrorMessage(handle())),
                             Retry::helps};
    }
    PQsetNoticeProcessor(
        handle(), [](void*, const char*) {}, nullptr);
  }

  [[nodiscard]] PGconn* handle() const noexcept { return connection_.get(); }

  /// Whether the next one may have it: alive as far as one knows, and in no transaction.
  [[nodiscard]] bool is_usable() const noexcept {
    return PQconsumeInput(handle()) == 1 && PQstatus(handle()) == CONNECTION_OK &&
           PQtransactionStatus(handle()) == PQTRANS_IDLE;
  }

  /// Statements without parameters; the answer is the last one's.
  void execute(const std::string& sql) {
    const Result result{PQexec(handle(), sql.c_str())};
    check(result.get());
  }

  Answer query(const std::string& sql, const std::vector<Parameter>& parameters) {
    std::vector<std::string> numbers(parameters.size());
    std::vector<const char*> values(parameters.size(), nullptr);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (const auto* number = std::get_if<std::int64_t>(&parameters[i])) {
        numbers[i] = std::to_string(*number);
        values[i] = numbers[i].c_str();
      } else if (const auto* text = std::get_if<std::string>(&parameters[i])) {
        values[i] = text->c_str();
      }
    }
    const Result result{PQexecParams(handle(), sql.c_str(), static_cast<int>(values.size()),
                                     nullptr, values.data(), nullptr, nullptr, 0)};
    check(result.get());
    return answer_of(result.get());
  }

  void commit() {
    const Result result{PQexec(handle(), "COMMIT")};
    if (PQstatus(handle()) != CONNECTION_OK) {
      throw StorageException{"the connection to PostgreSQL broke while it committed: " +
                                 one_line(PQerrorMessage(handle())),
                             Retry::in_doubt};
    }
    check(result.get());
    // A transaction that failed before ends by COMMIT, too, but as ROLLBACK.
    if (std::string_view{PQcmdStatus(result.get())} != "COMMIT") {
      throw StorageException{"PostgreSQL rolled the transaction back", Retry::useless};
    }
  }

 private:
  void check(const PGresult* result) const {
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return;
    if (PQstatus(handle()) != CONNECTION_OK) {
      throw StorageException{
          "the connection to PostgreSQL broke: " + one_line(PQerrorMessage(handle())),
          Retry::helps};
    }
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    throw StorageException{"PostgreSQL: " + std::string{message != nullptr ? message : "no answer"},
                           state == nullptr || is_passing(state) ? Retry::helps : Retry::useless};
  }

  static Answer answer_of(PGresult* result) {
    Answer answer;
    for (int row = 0; row < PQntuples(result); ++row) {
      Row& values = answer.rows.emplace_back();
      for (int column = 0; column < PQnfields(result); ++column) {
        const auto size = static_cast<std::size_t>(PQgetlength(result, row, column));
        values.push_back(PQgetisnull(result, row, column) != 0
                             ? Value{}
                             : Value{std::string{PQgetvalue(result, row, column), size}});
      }
    }
    const std::string_view changed = PQcmdTuples(result);
    std::from_chars(changed.data(), changed.data() + changed.size(), answer.changed);
    return answer;
  }

  std::unique_ptr<PGconn, Finish> connection_;
};

class PostgresSession final : public Session {
 public:
  PostgresSession(PostgresConnection& connection, Timestamp now)
      : connection_{connection}, now_{now} {}

  Answer run(const std::string& sql, const std::vector<Parameter>& parameters) override {
    return connection_.query(sql, parameters);
  }
  void send(const Transport& to, std::span<const Outgoing> messages) override {
    send_in_transaction(connection_.handle(), to, messages);
  }
  /// Not FOR UPDATE: whoever records a withdrawal of the distributor meanwhile need not wait.
  [[nodiscard]] std::string_view locking_rows() const noexcept override {
    return " FOR NO KEY UPDATE";
  }
  [[nodiscard]] Timestamp now() const noexcept override { return now_; }

 private:
  PostgresConnection& connection_;
  const Timestamp now_;
};

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(const Dsn& dsn, const DatabaseOptions& options)
      : uri_{for_libpq(dsn)}, clock_{*options.clock} {
    idle_.give_back(std::make_unique<PostgresConnection>(uri_));
  }

  void read(const Body& body) override {
    transact("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body);
  }

  /// Rows are locked before they are decided on, and what is read after that should be the newest.
  void write(const Body& body) override { transact("BEGIN ISOLATION LEVEL READ COMMITTED", body); }

  void setup() override {
    write([](Session& session) {
      // CREATE TABLE IF NOT EXISTS by two at once fails for one of them.
      session.run("SELECT pg_advisory_xact_lock(hashtext('errand-distributors setup'))");
      std::string_view script = schema::k_postgres_schema;
      while (script.find(';') != std::string_view::npos) {
        session.run(std::string{script.substr(0, script.find(';'))});
        script.remove_prefix(script.find(';') + 1);
      }
    });
  }

 private:
  std::unique_ptr<PostgresConnection> take() {
    while (auto connection = idle_.take()) {
      if (connection->is_usable()) return connection;
    }
    return std::make_unique<PostgresConnection>(uri_);
  }

  /// A connection that is left in the middle of something is closed, which rolls back.
  void transact(const char* begin, const Body& body) {
    std::unique_ptr<PostgresConnection> connection = take();
    connection->execute(begin);
    PostgresSession session{*connection, clock_.now()};
    try {
      body(session);
      connection->commit();
    } catch (...) {
      PQclear(PQexec(connection->handle(), "ROLLBACK"));
      if (connection->is_usable()) idle_.give_back(std::move(connection));
      throw;
    }
    idle_.give_back(std::move(connection));
  }

  const std::string uri_;
  const Clock& clock_;
  IdleConnections<PostgresConnection> idle_;
};

}  // namespace

std::unique_ptr<Database> open_postgres_database(const Dsn& dsn, const DatabaseOptions& options) {
  return std::make_unique<PostgresDatabase>(dsn, options);
}

}  // namespace errand::distributors
