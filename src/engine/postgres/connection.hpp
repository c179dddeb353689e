#pragma once

#include <chrono>
#include <cstdint>
#include <libpq-fe.h>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "errand/errors.hpp"

#include "engine/postgres/wire.hpp"

namespace errand::postgres {

struct ConnectionSettings {
  std::string uri;  ///< as libpq takes it, secrets and all
  /// The session is ours: statements are prepared, and planned for a queue. False behind poolers
  /// that give each transaction another session, and for other people's statements.
  bool prepare = true;
  /// For a reply of the server; longer means that it, or the way to it, is lost.
  std::chrono::milliseconds reply_timeout{60'000};
};

/// The server rolled the transaction back because it stood in another one's way: do it again.
class Deadlock : public StorageException {
 public:
  explicit Deadlock(const std::string& message)
      : StorageException{message, StorageException::Retry::helps} {}
};

/// Another transaction held on to what was asked for. Nothing has happened.
class LockTimeout : public StorageException {
 public:
  explicit LockTimeout(const std::string& message) : StorageException{message, Retry::helps} {}
};

/// A row with this key is there already.
class UniqueViolation : public ValidationException {
 public:
  using ValidationException::ValidationException;
};

/// What one statement gave. Columns are counted from 0.
class Result {
 public:
  Result() = default;
  explicit Result(PGresult* result) : result_{result} {}

  [[nodiscard]] int rows() const { return PQntuples(result_.get()); }
  /// Rows touched by an INSERT, UPDATE or DELETE.
  [[nodiscard]] std::size_t affected() const;

  [[nodiscard]] bool is_null(int row, int column) const {
    return PQgetisnull(result_.get(), row, column) != 0;
  }
  /// Valid as long as the result.
  [[nodiscard]] std::string_view text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  [[nodiscard]] std::optional<std::string> optional_text(int row, int column) const;
  [[nodiscard]] std::int64_t integer(int row, int column) const {
    return read_integer(text(row, column));
  }
  [[nodiscard]] int small_integer(int row, int column) const {
    return static_cast<int>(integer(row, column));
  }
  [[nodiscard]] bool boolean(int row, int column) const { return text(row, column) == "\1"; }
  [[nodiscard]] Timestamp time(int row, int column) const { return read_time(text(row, column)); }
  [[nodiscard]] std::optional<Timestamp> optional_time(int row, int column) const;
  [[nodiscard]] TaskId task_id(int row, int column) const {
    return read_task_id(text(row, column));
  }
  [[nodiscard]] Tid tid(int row, int column) const { return read_tid(text(row, column)); }

 private:
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

/// Takes what has come for it. False: the connection is lost.
[[nodiscard]] bool consume_input(PGconn* connection) noexcept;

/// Throws what a failed statement on a connection of somebody else means.
[[noreturn]] void throw_error_of(PGconn* connection, const PGresult* result);

/// One statement and what it is given. `sql` must be a constant: its address is the key under
/// which it is prepared.
struct Query {
  const char* sql;
  Parameters parameters{};
};

enum class Scope : std::uint8_t { session, transaction };

/// What a queue needs. The server is made to walk indexes in their order, which it would find out
/// by itself, were it not for plans that are kept since the queue was nearly empty, and statistics
/// that say it still is. Statements are planned once: for arrays of one element the server would
/// plan anew each time, which takes longer than to run them. Nobody's row lock keeps a call waiting
/// for long.
[[nodiscard]] Query queue_settings(Scope scope);

/// One connection to the server, in pipeline mode all the time. Used by one thread at a time.
class Connection {
 public:
  /// Connects. Throws StorageException.
  explicit Connection(const ConnectionSettings& settings);

  /// Runs the queries in one round trip and, unless begin() was called, in one transaction, which
  /// is committed when this returns. One result for each.
  ///
  /// Throws StorageException: in_doubt if the connection broke after they were sent; otherwise
  /// nothing has happened. A broken connection is of no more use.
  std::vector<Result> run(std::span<Query> queries);
  Result run(Query query);

  /// For a transaction of several round trips.
  void execute(const char* sql) { run(Query{sql}); }

  /// Statements separated by semicolons, without parameters: for migrations.
  void execute_script(const std::string& sql);

  /// Out of pipeline mode, for those who use handle() themselves; and back.
  void leave_pipeline();
  void enter_pipeline();

  /// Nobody knows what state it is in: it is not used again.
  void abandon() noexcept { broken_ = true; }

  [[nodiscard]] bool is_usable() const noexcept {
    return PQstatus(connection_.get()) == CONNECTION_OK && !broken_;
  }
  /// False: the server has closed it while nobody looked.
  [[nodiscard]] bool is_alive() noexcept;

  [[nodiscard]] PGconn* handle() const noexcept { return connection_.get(); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };

  void send(Query& query);
  /// Returns when all that was sent has left.
  void flush();
  /// Returns when a result can be taken without blocking.
  void await_result();
  /// Waits until the socket is ready.
  void wait(short events);
  [[noreturn]] void fail_sending();
  [[noreturn]] void fail_broken();

  ConnectionSettings settings_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::unordered_map<const char*, std::string> prepared_;
  std::vector<const char*> preparing_;  ///< by the queries under way, in the order of sending
  bool broken_ = false;
};

}  // namespace errand::postgres
