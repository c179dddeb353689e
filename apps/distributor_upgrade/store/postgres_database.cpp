#include <semaphore>
#include <string>
#include <string_view>
#include <utility>

#include "errand/errors.hpp"
#include "errand/postgres.hpp"

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/store/dsn_options.hpp"
#include "distributor_upgrade/store/idle_connections.hpp"
#include "distributor_upgrade/store/postgres_connection.hpp"
#include "errand_distributor_upgrade_embedded.hpp"

namespace errand::distributors {
namespace {

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
  [[nodiscard]] bool has_table(const std::string& name) override {
    return !run("SELECT to_regclass($1)", {name}).rows.at(0).at(0).is_null();
  }
  /// A plain join is answered by reading the whole index, however few rows it is joined with.
  [[nodiscard]] std::string sponsored_by(std::string_view member) const override {
    return "CROSS JOIN LATERAL (SELECT id FROM distributor WHERE sponsor_id = " +
           std::string{member} + " OFFSET 0) d";
  }
  [[nodiscard]] Timestamp now() const noexcept override { return now_; }

 private:
  PostgresConnection& connection_;
  const Timestamp now_;
};

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(const Dsn& dsn, const DatabaseOptions& options)
      : options_{postgres_options(dsn)},
        clock_{*options.clock},
        room_{static_cast<std::ptrdiff_t>(options_.connections)} {
    idle_.give_back(std::make_unique<PostgresConnection>(options_));
  }

  void read(const Body& body) override { transact("REPEATABLE READ READ ONLY", body); }

  /// What is read after a row was waited for should be the newest.
  void write(const Body& body) override { transact("READ COMMITTED", body); }

  void setup() override {
    with_transaction("READ COMMITTED", [](PostgresConnection& connection) {
      // CREATE TABLE IF NOT EXISTS by two at once fails for one of them.
      connection.execute("SELECT pg_advisory_xact_lock(hashtext('errand-distributors setup'))");
      connection.execute(std::string{schema::k_postgres_schema});
    });
  }

 private:
  /// One of the `connections` that the DSN allows, while it lives.
  class Place {
   public:
    Place(std::counting_semaphore<>& room, const PostgresOptions& options) : room_{room} {
      if (room_.try_acquire_for(options.reply_timeout)) return;
      throw StorageException{
          "all " + std::to_string(options.connections) +
              " connections to PostgreSQL are in use; raise connections=N in the DSN",
          StorageException::Retry::helps};
    }
    ~Place() { room_.release(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    std::counting_semaphore<>& room_;
  };

  /// A connection that has begun a transaction. One that was idle may have outlived its server,
  /// which shows when it is used; as nothing has run on it yet, another one can take its place.
  std::unique_ptr<PostgresConnection> begin(const std::string& sql) {
    if (auto connection = idle_.take()) {
      try {
        connection->execute(sql);
        return connection;
      } catch (const StorageException&) {
        if (!connection->is_broken()) throw;
        idle_.clear();  // their server is the same
      }
    }
    auto connection = std::make_unique<PostgresConnection>(options_);
    connection->execute(sql);
    return connection;
  }

  /// A connection that is left in the middle of something is closed, which rolls back.
  template <class Use>
  void with_transaction(std::string_view isolation, Use&& use) {
    const Place place{room_, options_};
    // Together with BEGIN, because that costs no round trip, and for the transaction only, because
    // a pooler gives the next one another connection.
    std::unique_ptr<PostgresConnection> connection =
        begin("BEGIN ISOLATION LEVEL " + std::string{isolation} +
              "; SET LOCAL datestyle = 'ISO'; SET LOCAL statement_timeout = '" +
              std::to_string(options_.reply_timeout.count()) + "s'");
    try {
      use(*connection);
      connection->commit();
    } catch (...) {
      connection->rollback();
      if (connection->is_between_transactions()) idle_.give_back(std::move(connection));
      throw;
    }
    idle_.give_back(std::move(connection));
  }

  void transact(std::string_view isolation, const Body& body) {
    with_transaction(isolation, [&](PostgresConnection& connection) {
      PostgresSession session{connection, clock_.now()};
      body(session);
    });
  }

  const PostgresOptions options_;
  const Clock& clock_;
  std::counting_semaphore<> room_;
  IdleConnections<PostgresConnection> idle_;
};

}  // namespace

std::unique_ptr<Database> open_postgres_database(const Dsn& dsn, const DatabaseOptions& options) {
  return std::make_unique<PostgresDatabase>(dsn, options);
}

}  // namespace errand::distributors
