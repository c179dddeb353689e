#include <libpq-fe.h>
#include <set>
#include <string>
#include <vector>

#include "errand/postgres.hpp"

#include "engine/postgres/connection.hpp"
#include "engine/postgres/submit.hpp"
#include "engine/postgres/transport.hpp"

namespace errand {
namespace postgres {
namespace {

/// Arrays of queue names.
constexpr const char* kNotify =
    "SELECT pg_notify('errand_work', queue) FROM unnest($1::text[]) queue";

void run(PGconn* connection, Query query) {
  Parameters& parameters = query.parameters;
  PGresult* raw = PQexecParams(connection, query.sql, parameters.size(), nullptr,
                               parameters.values(), parameters.lengths(), parameters.formats(), 1);
  const Result result{raw};
  const ExecStatusType status = PQresultStatus(raw);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return;
  throw_error_of(connection, raw);
}

}  // namespace
}  // namespace postgres

void submit_in_transaction(pg_conn* connection, std::span<const NewTask> tasks) {
  if (tasks.empty()) return;
  std::set<std::string> queues;
  for (const NewTask& task : tasks) {
    validate(task);
    queues.insert(task.queue);
  }
  for (postgres::Query& query : postgres::submit_queries(tasks)) {
    postgres::run(connection, std::move(query));
  }
  const std::vector<std::string> names{queues.begin(), queues.end()};
  postgres::Query notify{postgres::kNotify};
  notify.parameters.add(std::span<const std::string>{names});
  postgres::run(connection, std::move(notify));
}

void send_in_transaction(pg_conn* connection, const Transport& to,
                         std::span<const Outgoing> messages) {
  const auto* transport = dynamic_cast<const postgres::PostgresTransport*>(&to);
  if (transport == nullptr) {
    throw ConfigurationException{"transport " + to.name() + " is not on PostgreSQL"};
  }
  if (PQtransactionStatus(connection) == PQTRANS_IDLE) {
    throw ConfigurationException{"no transaction is open on this connection"};
  }
  if (messages.empty()) return;
  std::vector<const Outgoing*> all;
  for (const Outgoing& message : messages) {
    detail::check_outgoing(message);
    all.push_back(&message);
  }
  const std::string insert = postgres::insert_statement(transport->table().name);
  postgres::Query query{insert.c_str()};
  postgres::add_messages(query.parameters, all, transport->table().queue, transport->exactly_now());
  postgres::run(connection, std::move(query));
}

}  // namespace errand
