#include <libpq-fe.h>
#include <optional>
#include <span>
#include <string>

#include "errand/errors.hpp"
#include "errand/postgres.hpp"
#include "errand/task.hpp"

#include "core/document_rules.hpp"
#include "engine/postgres/engine.hpp"
#include "engine/postgres/held_statements.hpp"
#include "engine/postgres/statements.hpp"

namespace errand {
namespace {

using postgres::PostgresEngine;
using postgres::Result;

PostgresEngine& postgres_engine(Engine& engine) {
  auto* postgres = dynamic_cast<PostgresEngine*>(&engine);
  if (postgres == nullptr) {
    throw ConfigurationException{"a CompletingTransaction needs a PostgreSQL engine, and this is " +
                                 std::string{to_string(engine.kind())}};
  }
  return *postgres;
}

Lease lease_of(TaskContext& context) {
  if (const std::optional<Lease> lease = detail::AttemptEnd{context}.lease()) return *lease;
  throw ConfigurationException{"a CompletingTransaction needs a worker that runs the handler"};
}

Result execute(PGconn* connection, const char* sql) {
  PGresult* raw = PQexec(connection, sql);
  Result result{raw};
  if (PQresultStatus(raw) != PGRES_COMMAND_OK) postgres::throw_error_of(connection, raw);
  return result;
}

}  // namespace

class CompletingTransaction::Impl {
 public:
  Impl(Engine& engine, TaskContext& context)
      : engine_{postgres_engine(engine)},
        end_{context},
        lease_{lease_of(context)},
        loan_{engine_.database().handler_connections()} {
    loan_.connection().leave_pipeline();
    // Others extend the lease meanwhile: a snapshot from the beginning could not follow them.
    execute(handle(), "BEGIN ISOLATION LEVEL READ COMMITTED");
  }

  ~Impl() {
    PGconn* connection = handle();
    if (!done_) PQclear(PQexec(connection, "ROLLBACK"));
    try {
      // What the handler set, locked or left open must not become the next one's.
      execute(connection, "DISCARD ALL");
      loan_.connection().enter_pipeline();
    } catch (const Error&) {
      loan_.connection().abandon();
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] PGconn* handle() const noexcept { return loan_.connection().handle(); }

  void complete(const std::string& result) {
    detail::check_document("result", result, kMaxDocumentBytes);
    if (done_ || PQtransactionStatus(handle()) != PQTRANS_INTRANS) {
      throw StorageException{
          "the transaction of this handler has ended or failed before: nothing is stored",
          StorageException::Retry::useless};
    }
    if (!complete_row(result) && !complete_held(result)) {
      end_.set_lease_lost();
      throw Cancelled{"the lease of this attempt is lost"};
    }
    execute(handle(), "COMMIT");
    done_ = true;
    end_.set_completed();
    postgres::Changes changes;
    changes.final_tasks.push_back(lease_.id);
    engine_.bundles().forget({&lease_, 1});
    engine_.database().tell(changes);
  }

 private:
  /// True: it was held by this attempt.
  bool complete_row(const std::string& result) {
    const std::int64_t versions[]{lease_.version};
    postgres::Parameters parameters;
    parameters.add(std::span<const TaskId>{&lease_.id, 1})
        .add(std::span<const std::int64_t>{versions})
        .add(std::span<const std::string>{&result, 1});
    return changes_row(postgres::sql::kComplete, parameters);
  }

  /// The same where a bundle holds it, or did a moment ago: an extension may make a row of it
  /// meanwhile.
  bool complete_held(const std::string& result) {
    if (lease_.version != postgres::kBundledVersion) return false;
    postgres::Parameters parameters;
    parameters.add(std::span<const TaskId>{&lease_.id, 1});
    changes_row(postgres::sql::kMaterialize, parameters);
    return complete_row(result);
  }

  bool changes_row(const char* sql, postgres::Parameters& parameters) {
    PGresult* raw = PQexecParams(handle(), sql, parameters.size(), nullptr, parameters.values(),
                                 parameters.lengths(), parameters.formats(), 1);
    const Result row{raw};
    if (PQresultStatus(raw) != PGRES_TUPLES_OK) postgres::throw_error_of(handle(), raw);
    return row.rows() > 0;
  }

  PostgresEngine& engine_;
  detail::AttemptEnd end_;
  const Lease lease_;
  postgres::ConnectionPool::Loan loan_;
  bool done_ = false;
};

CompletingTransaction::CompletingTransaction(Engine& engine, TaskContext& context)
    : impl_{std::make_unique<Impl>(engine, context)} {}

CompletingTransaction::~CompletingTransaction() = default;

pg_conn* CompletingTransaction::connection() const noexcept { return impl_->handle(); }

void CompletingTransaction::complete_json(const std::string& result) { impl_->complete(result); }

}  // namespace errand
