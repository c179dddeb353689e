#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/clock.hpp"
#include "errand/dsn.hpp"
#include "errand/engine.hpp"
#include "errand/handler.hpp"
#include "errand/task_queue.hpp"
#include "errand/timestamp.hpp"

#include "invoice_intake/model/id.hpp"
#include "invoice_intake/model/profile.hpp"

namespace errand::invoices {

/// A parameter or a column, in its text form; nullopt is NULL.
using Text = std::optional<std::string>;

struct Rows {
  std::vector<std::vector<Text>> rows{};
  std::size_t affected = 0;  ///< by an INSERT, UPDATE or DELETE
};

/// One transaction on behalf of one user: the only way to the rows of users.
///
/// In every statement `$1` is the user, and the session fills it in; `parameters` begin at `$2`.
/// Whatever a statement says, it sees and changes the rows of that user alone: on PostgreSQL by
/// row-level security, for which the user is set, for this transaction alone; on SQLite by
/// SqliteIsolation. What SQLite cannot hold to its user is refused with std::logic_error.
///
/// Used by one thread. Throws StorageException.
class Session {
 public:
  virtual ~Session() = default;

  [[nodiscard]] const UserId& user() const noexcept { return user_; }

  /// When the transaction began, by the clock that rules in this database.
  [[nodiscard]] virtual Timestamp now() const = 0;

  Rows run(const std::string& sql, const std::vector<Text>& parameters = {});

  /// The Errand task exists if and when this transaction commits.
  virtual void submit(const NewTask& task) = 0;

  /// A condition: the JSON in `column` contains the JSON in `parameter`, as PostgreSQL's @> says.
  [[nodiscard]] virtual std::string contains(std::string_view column,
                                             std::string_view parameter) const = 0;

 protected:
  explicit Session(UserId user) : user_{std::move(user)} {}
  virtual Rows execute(const std::string& sql, const std::vector<Text>& parameters) = 0;

 private:
  UserId user_;
};

/// The database that holds the tables of users beside Errand's own. Thread-safe.
class Database {
 public:
  using Body = std::function<void(Session&)>;

  virtual ~Database() = default;

  [[nodiscard]] virtual EngineKind kind() const noexcept = 0;

  /// `body` in one transaction for `user`; rolled back if it throws.
  virtual void read(const UserId& user, const Body& body) = 0;
  virtual void write(const UserId& user, const Body& body) = 0;

  /// For handlers: as write(), and what `body` returns is stored as the result of the handler's
  /// task in the same transaction, where the engine can do that (PostgreSQL). Where it cannot
  /// (SQLite), the worker stores it afterwards, and a handler that runs again must see by what
  /// `body` wrote that it is done. Returns the result. Throws Cancelled if the lease is lost.
  virtual std::string complete(Engine& engine, TaskContext& context, const UserId& user,
                               const std::function<std::string(Session&)>& body) = 0;

  /// Everybody, by address. The one question that is asked on nobody's behalf.
  [[nodiscard]] virtual std::vector<Profile> profiles() = 0;
  [[nodiscard]] virtual std::optional<Profile> profile_of(const std::string& email) = 0;

  /// Lets the planner look at what is in the tables now: after many rows came or went at once.
  virtual void analyse() = 0;
};

/// Called with a SELECT of the program and how PostgreSQL went about it, in lines, the last of
/// which is the time it took there.
using OnPlan = std::function<void(const std::string& sql, const std::string& plan)>;

struct DatabaseOptions {
  const Clock* clock = &system_clock();  ///< PostgreSQL's own rules there
  bool create = false;                   ///< SQLite: make file and tables where there are none
  std::size_t connections = 16;          ///< PostgreSQL: at most; who comes then waits for one
  OnPlan on_plan{};                      ///< PostgreSQL: if set, every SELECT runs twice
};

/// Of the tables, in invoice_schema.
inline constexpr int kSchemaVersion = 1;

/// Throws StorageException, with the next step, if it is not kSchemaVersion.
void check_schema_version(int version);

/// Opens the database that the DSN names. Throws ConfigurationException for engines other than
/// SQLite and PostgreSQL; StorageException, with the next step, if it cannot be reached, has no
/// tables, or (PostgreSQL) the role is one that row-level security does not hold.
[[nodiscard]] std::unique_ptr<Database> open_database(const Dsn& dsn,
                                                      const DatabaseOptions& options = {});
[[nodiscard]] std::unique_ptr<Database> open_sqlite_database(const Dsn& dsn,
                                                             const DatabaseOptions& options);
[[nodiscard]] std::unique_ptr<Database> open_postgres_database(const Dsn& dsn,
                                                               const DatabaseOptions& options);

}  // namespace errand::invoices
