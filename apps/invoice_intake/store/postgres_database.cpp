#include <condition_variable>
#include <mutex>
#include <type_traits>
#include <utility>

#include "errand/errors.hpp"
#include "errand/postgres.hpp"

#include "invoice_intake/store/columns.hpp"
#include "invoice_intake/store/database.hpp"
#include "invoice_intake/store/postgres_connection.hpp"

namespace errand::invoices {
namespace {

using Retry = StorageException::Retry;

/// Inside a transaction, and for it alone: whose rows it may see, and how times are written. The
/// user is a UUID, checked when it was made.
std::string settings_for(const UserId& user) {
  return "SET LOCAL TIME ZONE 'UTC'; "
         "SELECT set_config('request.jwt.claim.sub', '" +
         user.text() + "', true), to_char(now(), 'YYYY-MM-DD HH24:MI:SS.US')";
}

class PostgresSession final : public Session {
 public:
  /// `settings`: what settings_for() gave on this connection.
  PostgresSession(PGconn* connection, UserId user, const Rows& settings, const OnPlan& on_plan)
      : Session{std::move(user)},
        connection_{connection},
        now_{time_of(settings.rows.at(0).at(1))},
        on_plan_{on_plan} {}

  [[nodiscard]] Timestamp now() const override { return now_; }

  void submit(const NewTask& task) override { submit_in_transaction(connection_, {&task, 1}); }

  [[nodiscard]] std::string contains(std::string_view column,
                                     std::string_view parameter) const override {
    return std::string{column} + " @> " + std::string{parameter};
  }

 private:
  Rows execute(const std::string& sql, const std::vector<Text>& parameters) override {
    if (on_plan_ && sql.starts_with("SELECT ")) tell_plan(sql, parameters);
    return run_statement(connection_, sql, parameters);
  }

  void tell_plan(const std::string& sql, const std::vector<Text>& parameters) {
    std::string plan;
    for (const std::vector<Text>& line :
         run_statement(connection_, "EXPLAIN (ANALYZE, TIMING OFF) " + sql, parameters).rows) {
      plan += text_of(line.at(0)) + "\n";
    }
    on_plan_(sql, plan);
  }

  PGconn* connection_;
  const Timestamp now_;
  const OnPlan& on_plan_;
};

/// A role that row-level security does not hold would see everybody's rows as soon as one statement
/// forgot the user.
void check_role(PGconn* connection) {
  const Rows role = run_script(
      connection,
      "SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)");
  if (role.rows.empty()) return;
  throw StorageException{
      "row-level security does not hold the role " + *role.rows[0][0] +
          ", a superuser or one with BYPASSRLS; connect as errand_invoices, the role that "
          "`errand-invoices setup` made: postgresql://errand_invoices@HOST/DATABASE",
      Retry::useless};
}

void check_tables(PGconn* connection) {
  const Rows table = run_script(connection,
                                "SELECT 1 FROM pg_tables WHERE tablename = 'invoice_schema' AND "
                                "schemaname = current_schema()");
  if (!table.rows.empty()) {
    check_schema_version(integer_of(
        run_script(connection, "SELECT max(version) FROM invoice_schema").rows.at(0).at(0)));
    return;
  }
  throw StorageException{
      "this database has no tables for invoices; let their owner run `errand-invoices setup`",
      Retry::useless};
}

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(const Dsn& dsn, const DatabaseOptions& options)
      : uri_{libpq_uri(dsn)}, connections_{options.connections}, on_plan_{options.on_plan} {
    auto connection = std::make_unique<PostgresConnection>(uri_);
    check_tables(connection->handle());
    check_role(connection->handle());
    idle_.push_back(std::move(connection));
    open_ = 1;
  }

  [[nodiscard]] EngineKind kind() const noexcept override { return EngineKind::postgres; }

  void read(const UserId& user, const Body& body) override {
    transact("BEGIN READ ONLY; ", user, body);
  }
  void write(const UserId& user, const Body& body) override { transact("BEGIN; ", user, body); }

  std::string complete(Engine& engine, TaskContext& context, const UserId& user,
                       const std::function<std::string(Session&)>& body) override {
    CompletingTransaction transaction{engine, context};
    PostgresSession session{transaction.connection(), user,
                            run_script(transaction.connection(), settings_for(user)), on_plan_};
    std::string result = body(session);
    transaction.complete_json(result);
    return result;
  }

  [[nodiscard]] std::vector<Profile> profiles() override {
    return find_profiles("ORDER BY email", {});
  }

  [[nodiscard]] std::optional<Profile> profile_of(const std::string& email) override {
    std::vector<Profile> found = find_profiles("WHERE email = $1", {email});
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  }

  void analyse() override {
    with_connection(
        [](PGconn* connection) { run_script(connection, "SELECT analyse_invoice_tables()"); });
  }

 private:
  /// One of the connections, waited for if all are in use; a broken one makes room for another.
  template <class Use>
  std::invoke_result_t<Use&, PGconn*> with_connection(Use&& use) {
    std::unique_ptr<PostgresConnection> connection = take();
    struct Return {
      PostgresDatabase& owner;
      std::unique_ptr<PostgresConnection>& connection;
      ~Return() { owner.give_back(std::move(connection)); }
    };
    const Return at_end{*this, connection};
    // Opened here and not under the lock: it may take a while.
    if (connection == nullptr) connection = std::make_unique<PostgresConnection>(uri_);
    return use(connection->handle());
  }

  /// nullptr: the caller may open one.
  std::unique_ptr<PostgresConnection> take() {
    std::unique_lock lock{mutex_};
    while (true) {
      // Those that the server closed meanwhile are of no use to anybody.
      while (!idle_.empty()) {
        std::unique_ptr<PostgresConnection> connection = std::move(idle_.back());
        idle_.pop_back();
        if (PQconsumeInput(connection->handle()) == 1 && connection->is_idle()) return connection;
        --open_;
      }
      if (open_ < connections_) {
        ++open_;
        return nullptr;
      }
      given_back_.wait(lock);
    }
  }

  void give_back(std::unique_ptr<PostgresConnection> connection) noexcept {
    {
      const std::lock_guard lock{mutex_};
      if (connection != nullptr && connection->is_idle()) {
        idle_.push_back(std::move(connection));
      } else {
        --open_;
      }
    }
    given_back_.notify_one();
  }

  void transact(const std::string& begin, const UserId& user, const Body& body) {
    with_connection([&](PGconn* connection) {
      try {
        PostgresSession session{connection, user,
                                run_script(connection, begin + settings_for(user)), on_plan_};
        body(session);
        commit(connection);
      } catch (...) {
        if (PQstatus(connection) == CONNECTION_OK) PQclear(PQexec(connection, "ROLLBACK"));
        throw;
      }
    });
  }

  std::vector<Profile> find_profiles(const std::string& clause,
                                     const std::vector<Text>& parameters) {
    return with_connection([&](PGconn* connection) {
      return read_profiles(
          run_statement(connection,
                        "SELECT auth_user_id, email, display_name, "
                        "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') "
                        "FROM invoice_directory() " +
                            clause,
                        parameters));
    });
  }

  const std::string uri_;
  const std::size_t connections_;
  const OnPlan on_plan_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<PostgresConnection>> idle_;
  std::size_t open_ = 0;  ///< in use and idle
};

}  // namespace

std::unique_ptr<Database> open_postgres_database(const Dsn& dsn, const DatabaseOptions& options) {
  return std::make_unique<PostgresDatabase>(dsn, options);
}

}  // namespace errand::invoices
