#include "bench/postgres_bare_loop.hpp"

#include <algorithm>
#include <array>
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

// Columns of kReadBundle.
constexpr int kId = 0;
constexpr int kPayload = 3;
constexpr int kAvailableAt = 12;
constexpr int kSeq = 13;
constexpr int kTid = 14;

/// A prepared statement and what it is given.
struct Statement {
  const char* name;
  Parameters parameters{};
};

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

  /// After the last prepare().
  void enter_pipeline() {
    if (PQenterPipelineMode(connection_.get()) != 1) fail();
  }

  /// In one round trip and one transaction.
  void send(std::span<Statement> statements) {
    for (Statement& statement : statements) {
      Parameters& parameters = statement.parameters;
      if (PQsendQueryPrepared(connection_.get(), statement.name, parameters.size(),
                              parameters.values(), parameters.lengths(), parameters.formats(),
                              1) != 1) {
        fail();
      }
    }
    if (PQpipelineSync(connection_.get()) != 1) fail();
  }

  /// What the last statement that was sent gives, when its transaction has ended.
  Rows receive() {
    Rows last;
    while (true) {
      Rows rows{PQgetResult(connection_.get())};
      if (!rows) continue;  // the end of a statement
      if (PQresultStatus(rows.get()) == PGRES_PIPELINE_SYNC) return last;
      last = check(std::move(rows));
    }
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
      : claims_{dsn}, halves_{Session{dsn}, Session{dsn}}, queue_{std::move(queue)} {
    claims_.prepare("submit one", postgres::sql::kSubmitOne);
    claims_.prepare("submit", postgres::sql::kSubmitAlike);
    claims_.prepare("claim", postgres::sql::kBundle);
    claims_.prepare("claim after", postgres::sql::kBundleAfter);
    claims_.prepare("read", postgres::sql::kReadBundle);
    claims_.enter_pipeline();
    for (Session& half : halves_) {
      half.prepare("complete", postgres::sql::kCompleteBundled);
      half.prepare("drop", postgres::sql::kDropBundles);
      half.enter_pipeline();
    }
  }

  void submit(std::size_t count, std::size_t batch, const std::string& payload) override {
    for (std::size_t done = 0; done < count; done += batch) {
      const std::size_t size = std::min(batch, count - done);
      Statement statement = size == 1 ? submit_one(payload) : submit_many(size, payload);
      claims_.send({&statement, 1});
      claims_.receive();
    }
  }

  /// Much as a lone worker does (decision 0040): the next batch is claimed while the last one is
  /// completed, as two halves at the same time, from where the one before it ends, unless a look
  /// from the beginning is due; a bundle of which nothing is left is dropped together with the next
  /// outcomes. Nobody else claims: there is no turn to take.
  std::size_t drain(std::size_t batch, FirstTime& first_claimed) override {
    if (std::exchange(dropping_, false)) halves_[0].receive();
    std::size_t done = 0;
    std::optional<TaskId> completing;
    TaskId bundle = send_claim(batch, nullptr);
    bool goes_on = false;
    while (true) {
      const Rows rows = claims_.receive();
      const int count = PQntuples(rows.get());
      if (count == 0 && std::exchange(goes_on, false)) {
        bundle = send_claim(batch, nullptr);
        continue;
      }
      if (count > 0) first_claimed.note();
      const TaskId claimed = bundle;
      if (count > 0) {
        bundle = send_claim(batch, rows.get());
        goes_on = true;
      }
      Statement first = complete(claimed, rows, 0, count / 2);
      Statement second = complete(claimed, rows, count / 2, count);
      std::vector<Statement> with_drop;
      if (completing) {
        for (Session& half : halves_) half.receive();
        with_drop.push_back(drop(*completing));
      }
      if (count == 0) {
        // All is completed: nobody waits for the last one to be dropped.
        dropping_ = completing.has_value();
        if (dropping_) halves_[0].send(with_drop);
        return done;
      }
      with_drop.push_back(std::move(first));
      halves_[0].send(with_drop);
      halves_[1].send({&second, 1});
      completing = claimed;
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  [[nodiscard]] Statement submit_one(const std::string& payload) const {
    Statement submit{"submit one"};
    submit.parameters.add(TaskId::generate()).add(payload);
    add_what_is_common(submit);
    submit.parameters.add(std::optional<std::string>{});
    return submit;
  }

  [[nodiscard]] Statement submit_many(std::size_t count, const std::string& payload) const {
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(TaskId::generate());
    const std::vector<std::string_view> payloads(count, payload);
    const std::vector<std::optional<std::string>> headers(count);
    Statement submit{"submit"};
    submit.parameters.add(std::span<const TaskId>{ids})
        .add(std::span<const std::string_view>{payloads});
    add_what_is_common(submit);
    submit.parameters.add(std::span<const std::optional<std::string>>{headers});
    return submit;
  }

  void add_what_is_common(Statement& submit) const {
    submit.parameters.add(queue_)
        .add("errand.echo")
        .add(std::int64_t{0})
        .add(std::int64_t{0})
        .add(std::int64_t{3})
        .add(std::optional<std::string>{});
  }

  /// Behind those that were claimed before, if there are any.
  TaskId send_claim(std::size_t batch, const PGresult* before) {
    const TaskId bundle = TaskId::generate();
    std::vector<Statement> statements{{before == nullptr ? "claim" : "claim after"}, {"read"}};
    Parameters& claim = statements[0].parameters;
    claim.add(queue_)
        .add(static_cast<std::int64_t>(batch))
        .add(std::int64_t{0})
        .add(std::int64_t{15'000})
        .add("bare loop");
    if (before != nullptr) {
      // The server knows better: they are in the newest bundle.
      claim.add(postgres::read_time(text(before, 0, kAvailableAt)))
          .add(postgres::read_integer(text(before, 0, kSeq)));
    }
    claim.add(bundle);
    if (before != nullptr) claim.add(std::int64_t{0});
    statements[1].parameters.add(bundle);
    claims_.send(statements);
    return bundle;
  }

  static Statement complete(TaskId bundle, const Rows& rows, int begin, int end) {
    std::vector<TaskId> ids;
    std::vector<postgres::Tid> places;
    std::vector<std::string_view> results;
    for (int row = begin; row < end; ++row) {
      ids.push_back(postgres::read_task_id(text(rows.get(), row, kId)));
      places.push_back(postgres::read_tid(text(rows.get(), row, kTid)));
      results.push_back(text(rows.get(), row, kPayload));
    }
    Statement complete{"complete"};
    complete.parameters.add(bundle)
        .add(std::span<const postgres::Tid>{places})
        .add(std::span<const TaskId>{ids})
        .add(std::span<const std::string_view>{results});
    return complete;
  }

  static Statement drop(TaskId bundle) {
    Statement drop{"drop"};
    drop.parameters.add(std::span<const TaskId>{&bundle, 1});
    return drop;
  }

  static std::string_view text(const PGresult* rows, int row, int column) {
    return {PQgetvalue(rows, row, column),
            static_cast<std::size_t>(PQgetlength(rows, row, column))};
  }

  Session claims_;
  std::array<Session, 2> halves_;  ///< complete
  std::string queue_;
  bool dropping_ = false;  ///< by the first half, since the last drain
};

}  // namespace

std::unique_ptr<BareLoop> make_postgres_bare_loop(const Dsn& dsn, const std::string& queue) {
  return std::make_unique<PostgresBareLoop>(dsn, queue);
}

}  // namespace errand::bench
