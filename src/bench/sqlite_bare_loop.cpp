#include "bench/sqlite_bare_loop.hpp"

#include <sqlite3.h>
#include <string_view>
#include <vector>

#include "errand/clock.hpp"
#include "errand/errors.hpp"
#include "errand/task_id.hpp"
#include "errand/timestamp.hpp"

#include "engine/sqlite/connection.hpp"
#include "engine/sqlite/statements.hpp"

namespace errand::bench {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

void require(int code, int wanted) {
  if (code != wanted) {
    throw StorageException{std::string{"bare loop: "} + sqlite3_errstr(code),
                           StorageException::Retry::useless};
  }
}

void bind_text(const Prepared& statement, int index, std::string_view text) {
  sqlite3_bind_text64(statement.get(), index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void run(const Prepared& statement) {
  require(sqlite3_step(statement.get()), SQLITE_DONE);
  sqlite3_reset(statement.get());
}

class SqliteBareLoop final : public BareLoop {
 public:
  SqliteBareLoop(const Dsn& dsn, std::string queue)
      : connection_{sqlite::Connection::Settings{
            .path = dsn.path(), .synchronous_full = dsn.option("synchronous") != "normal"}},
        queue_{std::move(queue)},
        begin_{prepare("BEGIN IMMEDIATE")},
        commit_{prepare("COMMIT")},
        submit_{prepare(sqlite::sql::kSubmit)},
        claim_{prepare(sqlite::sql::kClaim)},
        complete_{prepare(sqlite::sql::kComplete)} {}

  void submit(std::size_t count, std::size_t batch, const std::string& payload) override {
    for (std::size_t done = 0; done < count; done += batch) {
      const std::string now = to_sql_time(system_clock().now());
      run(begin_);
      for (std::size_t i = 0; i < std::min(batch, count - done); ++i) {
        const std::string id = TaskId::generate().to_string();
        bind_text(submit_, 1, id);
        bind_text(submit_, 2, payload);
        bind_text(submit_, 3, now);
        bind_text(submit_, 4, queue_);
        bind_text(submit_, 5, "errand.echo");
        sqlite3_bind_int64(submit_.get(), 6, 0);
        bind_text(submit_, 7, now);
        sqlite3_bind_int64(submit_.get(), 8, 3);
        run(submit_);
      }
      run(commit_);
    }
  }

  std::size_t drain(std::size_t batch, FirstTime& first_claimed) override {
    struct Row {
      std::string id;
      std::int64_t version;
      std::string payload;
    };
    std::size_t done = 0;
    while (true) {
      const std::string now = to_sql_time(system_clock().now());
      std::vector<Row> rows;
      run(begin_);
      bind_text(claim_, 1, now);
      bind_text(claim_, 2, now);
      bind_text(claim_, 3, "bare loop");
      bind_text(claim_, 4, queue_);
      sqlite3_bind_int64(claim_.get(), 5, 0);
      sqlite3_bind_int64(claim_.get(), 6, static_cast<std::int64_t>(batch));
      while (sqlite3_step(claim_.get()) == SQLITE_ROW) {
        rows.push_back(Row{text(0), sqlite3_column_int64(claim_.get(), 1), text(3)});
      }
      sqlite3_reset(claim_.get());
      run(commit_);
      if (rows.empty()) return done;
      first_claimed.note();
      const std::string later = to_sql_time(system_clock().now());
      run(begin_);
      for (const Row& row : rows) {
        bind_text(complete_, 1, row.id);
        sqlite3_bind_int64(complete_.get(), 2, row.version);
        bind_text(complete_, 3, row.payload);
        bind_text(complete_, 4, later);
        run(complete_);
      }
      run(commit_);
      done += rows.size();
    }
  }

 private:
  Prepared prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    require(sqlite3_prepare_v3(connection_.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                               nullptr),
            SQLITE_OK);
    return Prepared{statement};
  }

  std::string text(int column) {
    return {reinterpret_cast<const char*>(sqlite3_column_text(claim_.get(), column)),
            static_cast<std::size_t>(sqlite3_column_bytes(claim_.get(), column))};
  }

  sqlite::Connection connection_;  ///< for its settings, which must be the engine's
  std::string queue_;
  Prepared begin_;
  Prepared commit_;
  Prepared submit_;
  Prepared claim_;
  Prepared complete_;
};

}  // namespace

std::unique_ptr<BareLoop> make_sqlite_bare_loop(const Dsn& dsn, const std::string& queue) {
  return std::make_unique<SqliteBareLoop>(dsn, queue);
}

}  // namespace errand::bench
