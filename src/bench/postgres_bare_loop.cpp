#include "bench/postgres_bare_loop.hpp"

#include <algorithm>
#include <libpq-fe.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "errand/errors.hpp"
#include "errand/task_id.hpp"

#include "engine/postgres/connection.hpp"
#include "engine/postgres/libpq_uri.hpp"
#include "engine/postgres/statements.hpp"
#include "engine/postgres/wire.hpp"

namespace errand::bench {
namespace {

using postgres::Parameters;

struct Finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Rows = std::unique_ptr<PGresult, Clear>;

/// Of kReadBundle.
constexpr int kTid = 14;

class Session {
 public:
  explicit Session(const Dsn& dsn) : connection_{PQconnectdb(postgres::libpq_uri(dsn).c_str())} {
    // As the engine's sessions are: its statements are meant to be planned under these.
    postgres::Query settings = postgres::queue_settings(postgres::Scope::session);
    check(Rows{PQexecParams(connection_.get(), settings.sql, settings.parameters.size(), nullptr,
                            settings.parameters.values(), settings.parameters.lengths(),
                            settings.parameters.formats(), 1)});
  }

  void prepare(const char* name, const char* sql) {
    check(Rows{PQprepare(connection_.get(), name, sql, 0, nullptr)});
  }

  Rows run(const char* name, Parameters& parameters) {
    send(name, parameters);
    return receive();
  }

  void send(const char* name, Parameters& parameters) {
    if (PQsendQueryPrepared(connection_.get(), name, parameters.size(), parameters.values(),
                            parameters.lengths(), parameters.formats(), 1) != 1) {
      fail();
    }
  }

  Rows receive() {
    Rows rows{PQgetResult(connection_.get())};
    while (Rows{PQgetResult(connection_.get())}) continue;
    return check(std::move(rows));
  }

 private:
  Rows check(Rows rows) {
    const ExecStatusType status = PQresultStatus(rows.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail();
    return rows;
  }

  [[noreturn]] void fail() {
    throw StorageException{std::string{"bare loop: "} + PQerrorMessage(connection_.get()),
                           StorageException::Retry::useless};
  }

  std::unique_ptr<PGconn, Finish> connection_;
};

class PostgresBareLoop final : public BareLoop {
 public:
  PostgresBareLoop(const Dsn& dsn, std::string queue)
      : first_{dsn}, second_{dsn}, queue_{std::move(queue)} {
    first_.prepare("submit", postgres::sql::kSubmitAlike);
    first_.prepare("claim", postgres::sql::kBundle);
    first_.prepare("read", postgres::sql::kReadBundle);
    second_.prepare("complete", postgres::sql::kCompleteBundled);
    second_.prepare("drop", postgres::sql::kDropBundles);
  }

  void submit(std::size_t count, std::size_t batch, const std::string& payload) override {
    for (std::size_t done = 0; done < count; done += batch) {
      const std::size_t size = std::min(batch, count - done);
      std::vector<TaskId> ids;
      for (std::size_t i = 0; i < size; ++i) ids.push_back(TaskId::generate());
      const std::vector<std::string_view> payloads(size, payload);
      const std::vector<std::optional<std::string>> none(size);
      Parameters parameters;
      parameters.add(std::span<const TaskId>{ids})
          .add(std::span<const std::string_view>{payloads})
          .add(queue_)
          .add("errand.echo")
          .add(std::int64_t{0})
          .add(std::int64_t{0})
          .add(std::int64_t{3})
          .add(std::optional<std::string>{})
          .add(std::span<const std::optional<std::string>>{none});
      first_.run("submit", parameters);
    }
  }

  /// The next batch is claimed while the last one is completed, as a worker does. Nobody else
  /// claims: there is no turn to take.
  std::size_t drain(std::size_t batch, FirstTime& first_claimed) override {
    std::size_t done = 0;
    std::optional<TaskId> completing;
    while (true) {
      const TaskId bundle = TaskId::generate();
      Parameters claim;
      claim.add(queue_)
          .add(static_cast<std::int64_t>(batch))
          .add(std::int64_t{0})
          .add(std::int64_t{15'000})
          .add("bare loop")
          .add(bundle);
      first_.run("claim", claim);
      Parameters claimed;
      claimed.add(bundle);
      const Rows rows = first_.run("read", claimed);
      if (completing) {
        second_.receive();
        Parameters spent;
        spent.add(std::span<const TaskId>{&*completing, 1});
        second_.run("drop", spent);
        completing.reset();
      }
      const int count = PQntuples(rows.get());
      if (count == 0) return done;
      first_claimed.note();
      std::vector<TaskId> ids;
      std::vector<postgres::Tid> places;
      std::vector<std::string_view> results;
      for (int row = 0; row < count; ++row) {
        ids.push_back(postgres::read_task_id(text(rows, row, 0)));
        places.push_back(postgres::read_tid(text(rows, row, kTid)));
        results.push_back(text(rows, row, 3));
      }
      Parameters complete;
      complete.add(bundle)
          .add(std::span<const postgres::Tid>{places})
          .add(std::span<const TaskId>{ids})
          .add(std::span<const std::string_view>{results});
      second_.send("complete", complete);
      completing = bundle;
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  static std::string_view text(const Rows& rows, int row, int column) {
    return {PQgetvalue(rows.get(), row, column),
            static_cast<std::size_t>(PQgetlength(rows.get(), row, column))};
  }

  Session first_;
  Session second_;  ///< completes
  std::string queue_;
};

}  // namespace

std::unique_ptr<BareLoop> make_postgres_bare_loop(const Dsn& dsn, const std::string& queue) {
  return std::make_unique<PostgresBareLoop>(dsn, queue);
}

}  // namespace errand::bench
