#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "errand/clock.hpp"
#include "errand/dsn.hpp"
#include "errand/timestamp.hpp"
#include "errand/transport.hpp"

namespace errand::distributors {

/// NULL, a whole number, or a text. Times are texts: see to_sql_time().
using Parameter = std::variant<std::nullptr_t, std::int64_t, std::string>;

[[nodiscard]] Parameter nullable(const std::optional<std::int64_t>& number);
[[nodiscard]] Parameter nullable(const std::optional<std::string>& text);

/// A column that was read.
class Value {
 public:
  Value() = default;
  explicit Value(std::string text) : text_{std::move(text)} {}

  [[nodiscard]] bool is_null() const noexcept { return !text_; }

  // Throw StorageException if the column holds something else: another program wrote it.
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const std::optional<std::string>& optional_text() const noexcept { return text_; }
  [[nodiscard]] std::int64_t number() const;
  [[nodiscard]] std::optional<std::int64_t> optional_number() const;
  [[nodiscard]] Timestamp time() const;
  [[nodiscard]] std::optional<Timestamp> optional_time() const;

 private:
  std::optional<std::string> text_;
};

using Row = std::vector<Value>;

struct Answer {
  std::vector<Row> rows{};
  std::int64_t changed = 0;  ///< rows, by an INSERT, UPDATE or DELETE
};

/// One transaction. Used by the thread that opened it. Any method throws StorageException.
class Session {
 public:
  virtual ~Session() = default;

  /// One statement, understood by both databases; parameters are `$1`, `$2`, …
  virtual Answer run(const std::string& sql, const std::vector<Parameter>& parameters = {}) = 0;

  /// The messages are there if and when this transaction commits. `to` must be in this database.
  virtual void send(const Transport& to, std::span<const Outgoing> messages) = 0;

  /// Whether there is such a table where unqualified names are looked up.
  [[nodiscard]] virtual bool has_table(const std::string& name) = 0;

  /// What follows `FROM team` to join `d(id)`, those whom `member`, a column of `team`, sponsors;
  /// each is to be found by the index.
  [[nodiscard]] virtual std::string sponsored_by(std::string_view member) const = 0;

  /// When the transaction began.
  [[nodiscard]] virtual Timestamp now() const noexcept = 0;
};

/// Where distributors, levels, withdrawals and upgrades are, beside Symfony's `messenger_messages`.
/// Thread-safe; each transaction has a connection of its own while it runs.
class Database {
 public:
  using Body = std::function<void(Session&)>;

  virtual ~Database() = default;

  /// `body` in one transaction that sees one state of the data and changes nothing.
  virtual void read(const Body& body) = 0;

  /// `body` in one transaction; rolled back if it throws. Throws StorageException, which is
  /// in_doubt if the connection broke while it committed.
  virtual void write(const Body& body) = 0;

  /// Makes what is missing of the tables. Idempotent.
  virtual void setup() = 0;
};

struct DatabaseOptions {
  /// Must outlive the database. Those of all programs that use it must agree.
  const Clock* clock = &system_clock();
  bool create = false;  ///< SQLite: make the file, where there is none
};

/// Throws ConfigurationException for databases other than SQLite and PostgreSQL; StorageException
/// if it cannot be reached.
[[nodiscard]] std::unique_ptr<Database> open_database(const Dsn& dsn,
                                                      const DatabaseOptions& options = {});
[[nodiscard]] std::unique_ptr<Database> open_sqlite_database(const Dsn& dsn,
                                                             const DatabaseOptions& options);
[[nodiscard]] std::unique_ptr<Database> open_postgres_database(const Dsn& dsn,
                                                               const DatabaseOptions& options);

/// Throws StorageException that names `setup` if the tables are not there, and one that says so if
/// they are of another version of the program.
void require_tables(Database& database);

}  // namespace errand::distributors
