#include "engine/postgres/connection.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <poll.h>

namespace errand::postgres {
namespace {

using Retry = StorageException::Retry;
using Steady = std::chrono::steady_clock;

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::string line;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\t' || c == ' ';
    if (!blank) {
      line += c;
    } else if (!line.ends_with(' ')) {
      line += ' ';
    }
  }
  return line;
}

/// By SQLSTATE: the server rolled back, and says why.
Retry retry_for(std::string_view state) {
  const std::string_view kind = state.substr(0, 2);
  // Connection, resources, operator's intervention, lost a race.
  if (kind == "08" || kind == "53" || kind == "57" || kind == "40") {
    return Retry::helps;
  }
  return Retry::useless;
}

const char* next_step(std::string_view state) {
  if (state == "42501") return "; grant this user the right, or run `errand setup` as the owner";
  if (state == "42P01" || state == "42703") return "; run `errand setup`";
  if (state == "25006") return "; this server is read-only: connect to the primary";
  if (state == "53300") return "; raise max_connections, or use fewer programs or a pooler";
  if (state == "55P03") return "; another transaction holds the task: end it";
  if (state == "53100") return "; free some space on the server";
  if (state == "26000") return "; behind a pooler in transaction mode add prepare=no to the DSN";
  return "";
}

std::string sqlstate_of(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state != nullptr ? state : "";
}

std::exception_ptr error_of(const PGresult* result) {
  const std::string state = sqlstate_of(result);
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string message =
      "PostgreSQL: " + trimmed(primary != nullptr ? primary : PQresultErrorMessage(result)) +
      next_step(state);
  if (state == "23505") return std::make_exception_ptr(UniqueViolation{message});
  // What the database cannot hold, or somebody's rules for it do not allow.
  if (state.starts_with("22") || state.starts_with("23")) {
    return std::make_exception_ptr(ValidationException{message});
  }
  if (state == "40P01" || state == "40001") return std::make_exception_ptr(Deadlock{message});
  if (state == "55P03") return std::make_exception_ptr(LockTimeout{message});
  return std::make_exception_ptr(StorageException{message, retry_for(state)});
}

/// What the server, or libpq in its place, said of a connection that could not be made. Whether a
/// later try can help is not told apart by libpq but in words.
StorageException cannot_connect(PGconn* connection) {
  const std::string message = trimmed(PQerrorMessage(connection));
  const bool refused = message.find("authentication failed") != std::string::npos ||
                       message.find("does not exist") != std::string::npos ||
                       message.find("no pg_hba.conf entry") != std::string::npos ||
                       message.find("certificate") != std::string::npos;
  return {"cannot connect to PostgreSQL: " + message, refused ? Retry::useless : Retry::helps};
}

}  // namespace

bool consume_input(PGconn* connection) noexcept {
  // A record of TLS holds up to 16 kB, of which one call may take 8: the rest is in OpenSSL's
  // hands, and would not make the socket ready again.
  const int calls = PQsslInUse(connection) != 0 ? 3 : 1;
  for (int i = 0; i < calls; ++i) {
    if (PQconsumeInput(connection) != 1) return false;
  }
  return true;
}

void throw_error_of(PGconn* connection, const PGresult* result) {
  if (PQstatus(connection) != CONNECTION_OK) {
    throw StorageException{
        "the connection to PostgreSQL broke: " + trimmed(PQerrorMessage(connection)),
        Retry::in_doubt};
  }
  std::rethrow_exception(error_of(result));
}

std::size_t Result::affected() const {
  const std::string_view text = PQcmdTuples(result_.get());
  std::size_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

std::optional<std::string> Result::optional_text(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return std::string{text(row, column)};
}

std::optional<Timestamp> Result::optional_time(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return time(row, column);
}

Query queue_settings(Scope scope) {
  Query query{R"(
SELECT set_config(name, value, $1::bool)
FROM (VALUES ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'), ('enable_sort', 'off'),
             ('enable_nestloop', 'off'), ('jit', 'off'), ('lock_timeout', '2s'),
             ('idle_in_transaction_session_timeout', '10s'),
             ('plan_cache_mode', 'force_generic_plan'),
             ('default_transaction_isolation', 'read committed')) AS setting (name, value))"};
  query.parameters.add(scope == Scope::transaction);
  return query;
}

Connection::Connection(const ConnectionSettings& settings) : settings_{settings} {
  // What comes before the URI is a default, what comes after cannot be changed by it.
  constexpr std::array<const char*, 9> kNames{
      "connect_timeout",  "keepalives_idle",  "keepalives_interval",
      "keepalives_count", "tcp_user_timeout", "fallback_application_name",
      "dbname",           "client_encoding",  nullptr};
  const std::array<const char*, 9> values{
      "10", "30", "10", "3", "60000", "errand", settings_.uri.c_str(), "UTF8", nullptr};
  connection_.reset(PQconnectdbParams(kNames.data(), values.data(), 1));
  if (!connection_) throw std::bad_alloc{};
  if (PQstatus(connection_.get()) != CONNECTION_OK) throw cannot_connect(connection_.get());
  // Notices go nowhere: a library does not write to its user's standard error.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  enter_pipeline();
  if (settings_.prepare) run(queue_settings(Scope::session));
}

Result Connection::run(Query query) { return std::move(run(std::span<Query>{&query, 1}).front()); }

std::vector<Result> Connection::run(std::span<Query> queries) {
  preparing_.clear();
  std::vector<bool> with_prepare;
  for (Query& query : queries) {
    const std::size_t before = preparing_.size();
    send(query);
    with_prepare.push_back(preparing_.size() > before);
  }
  if (PQpipelineSync(connection_.get()) != 1) fail_sending();
  flush();

  std::vector<Result> results;
  std::exception_ptr error;
  const auto take = [&](bool keep) {
    await_result();
    PGresult* raw = PQgetResult(connection_.get());
    if (raw == nullptr) fail_broken();
    Result result{raw};
    switch (PQresultStatus(raw)) {
      case PGRES_COMMAND_OK:
      case PGRES_TUPLES_OK:
        if (keep) results.push_back(std::move(result));
        break;
      case PGRES_PIPELINE_ABORTED:
        break;
      default:
        if (PQstatus(connection_.get()) != CONNECTION_OK) fail_broken();
        if (!error) error = error_of(raw);
    }
    const bool good = !error;
    await_result();
    if (PGresult* end = PQgetResult(connection_.get()); end != nullptr) {
      PQclear(end);
      fail_broken();
    }
    return good;
  };
  std::size_t next_prepared = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (with_prepare[i]) {
      const char* sql = preparing_[next_prepared++];
      if (!take(false)) prepared_.erase(sql);
    }
    take(true);
  }
  // Some errors come with the commit: deferred constraints, lost races.
  for (bool synced = false; !synced;) {
    await_result();
    PGresult* raw = PQgetResult(connection_.get());
    const Result end{raw};
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail_broken();
    synced = raw != nullptr && PQresultStatus(raw) == PGRES_PIPELINE_SYNC;
    if (raw != nullptr && !synced && !error) error = error_of(raw);
  }
  if (error) std::rethrow_exception(error);
  return results;
}

void Connection::send(Query& query) {
  Parameters& parameters = query.parameters;
  int sent = 0;
  if (settings_.prepare) {
    auto known = prepared_.find(query.sql);
    if (known == prepared_.end()) {
      known = prepared_.emplace(query.sql, "errand" + std::to_string(prepared_.size())).first;
      preparing_.push_back(query.sql);
      if (PQsendPrepare(connection_.get(), known->second.c_str(), query.sql, 0, nullptr) != 1) {
        fail_sending();
      }
    }
    sent = PQsendQueryPrepared(connection_.get(), known->second.c_str(), parameters.size(),
                               parameters.values(), parameters.lengths(), parameters.formats(), 1);
  } else {
    sent = PQsendQueryParams(connection_.get(), query.sql, parameters.size(), nullptr,
                             parameters.values(), parameters.lengths(), parameters.formats(), 1);
  }
  if (sent != 1) fail_sending();
}

void Connection::flush() {
  while (true) {
    const int left = PQflush(connection_.get());
    if (left == 0) return;
    if (left < 0) fail_broken();
    // The server may wait for us to read before it reads on itself.
    wait(POLLIN | POLLOUT);
    if (!consume_input(connection_.get())) fail_broken();
  }
}

void Connection::await_result() {
  while (PQisBusy(connection_.get()) != 0) {
    wait(POLLIN);
    if (!consume_input(connection_.get())) fail_broken();
  }
}

void Connection::wait(short events) {
  const auto deadline = Steady::now() + settings_.reply_timeout;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now()).count();
    if (left <= 0) break;
    pollfd socket{PQsocket(connection_.get()), events, 0};
    const int ready = poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) break;
  }
  broken_ = true;
  throw StorageException{"PostgreSQL did not answer for " +
                             std::to_string(settings_.reply_timeout.count() / 1000) + " s",
                         Retry::in_doubt};
}

bool Connection::is_alive() noexcept {
  if (!is_usable()) return false;
  // Nothing was asked: what there is to read is a notice, or a farewell and after it the end.
  pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
  while (poll(&socket, 1, 0) > 0) {
    if (!consume_input(connection_.get()) || !is_usable()) return false;
  }
  return true;
}

void Connection::leave_pipeline() {
  if (PQexitPipelineMode(connection_.get()) != 1 || PQsetnonblocking(connection_.get(), 0) != 0) {
    fail_broken();
  }
}

void Connection::enter_pipeline() {
  if (PQsetnonblocking(connection_.get(), 1) != 0 || PQenterPipelineMode(connection_.get()) != 1) {
    fail_broken();
  }
}

void Connection::execute_script(const std::string& sql) {
  leave_pipeline();
  PGresult* raw = PQexec(connection_.get(), sql.c_str());
  const Result result{raw};
  if (PQstatus(connection_.get()) != CONNECTION_OK) fail_broken();
  const ExecStatusType status = PQresultStatus(raw);
  std::exception_ptr error;
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) error = error_of(raw);
  enter_pipeline();
  if (error) std::rethrow_exception(error);
}

void Connection::fail_sending() {
  broken_ = true;
  throw StorageException{"PostgreSQL: " + trimmed(PQerrorMessage(connection_.get())),
                         Retry::in_doubt};
}

void Connection::fail_broken() {
  broken_ = true;
  throw StorageException{
      "the connection to PostgreSQL broke: " + trimmed(PQerrorMessage(connection_.get())),
      Retry::in_doubt};
}

}  // namespace errand::postgres
