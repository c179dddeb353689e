#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <unordered_map>

#include "errand/errors.hpp"

namespace errand::sqlite {

/// A prepared statement. Texts are bound without a copy: they must live until the statement is
/// done. Not thread-safe, like the connection it belongs to.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql);

  /// Parameters are numbered from 1, columns from 0, as SQLite does.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, int value) { return bind(index, std::int64_t{value}); }
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, const char* text) { return bind(index, std::string_view{text}); }
  Statement& bind(int index, const std::string& text) {
    return bind(index, std::string_view{text});
  }
  Statement& bind(int index, const std::optional<std::string>& text);
  Statement& bind_null(int index);

  /// True: there is a row. False: done, and reset for the next use. Throws StorageException after
  /// a reset.
  bool step();

  /// For statements without rows: steps to the end.
  void run();

  /// Makes an unfinished statement ready for the next use.
  void reset() noexcept;

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] int small_integer(int column) const { return static_cast<int>(integer(column)); }
  /// Valid until the next step() or reset().
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::optional<std::string> optional_text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// One connection to the file, with its prepared statements. Used by one thread at a time.
class Connection {
 public:
  enum class Mode : std::uint8_t {
    create,    ///< make the file where there is none, and turn it to WAL
    existing,  ///< a file that is there, as it is
    look,      ///< the same without the right to write
  };

  struct Settings {
    std::string path;
    Mode mode = Mode::create;
    bool synchronous_full = true;
    std::chrono::milliseconds busy_timeout{30'000};
  };

  /// Opens the file. Throws StorageException.
  explicit Connection(const Settings& settings);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Prepared on first use and kept; ready to be bound. `sql` must be a constant: its address is
  /// the key.
  Statement& prepare(const char* sql);

  /// For statements whose text is put together at run time.
  [[nodiscard]] Statement prepare_once(const std::string& sql) {
    return Statement{db_.get(), sql.c_str()};
  }

  /// For scripts and pragmas.
  void execute(const std::string& sql);

  /// A statement that an exception left half-way holds its old view of the file, on which no write
  /// can begin.
  void reset_statements() noexcept;

  /// Rows touched by the last statement.
  [[nodiscard]] std::int64_t changes() const noexcept { return sqlite3_changes64(db_.get()); }

  /// For what SQLite offers and this class does not.
  [[nodiscard]] sqlite3* handle() const noexcept { return db_.get(); }

  [[nodiscard]] bool in_transaction() const noexcept {
    return sqlite3_get_autocommit(db_.get()) == 0;
  }

 private:
  static int on_busy(void* self, int tries) noexcept;

  struct Close {
    void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
  };

  std::chrono::milliseconds busy_timeout_;
  std::chrono::steady_clock::time_point busy_since_;
  std::unique_ptr<sqlite3, Close> db_;
  std::unordered_map<const char*, Statement> statements_;
};

/// BEGIN IMMEDIATE … COMMIT; rolls back unless commit() returned. A deferred transaction that turns
/// into a writing one fails at once, whatever the busy handler says; hence IMMEDIATE.
class WriteTransaction {
 public:
  explicit WriteTransaction(Connection& connection);
  ~WriteTransaction();
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;

  void commit();

 private:
  Connection& connection_;
  bool committed_ = false;
};

/// Several reads of one moment.
class ReadTransaction {
 public:
  explicit ReadTransaction(Connection& connection);
  ~ReadTransaction();
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Connection& connection_;
  int exceptions_before_ = std::uncaught_exceptions();
};

}  // namespace errand::sqlite
