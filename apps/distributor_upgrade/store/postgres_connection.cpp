#include "distributor_upgrade/store/postgres_connection.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <poll.h>
#include <string_view>

#include "errand/errors.hpp"

namespace errand::distributors {
namespace {

using Retry = StorageException::Retry;

/// libpq writes several lines, some of them indented.
std::string one_line(const char* message) {
  std::string text;
  for (const char c : std::string_view{message}) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (!is_space) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

/// Whether the same statement may succeed later: the server rolled it back for another's sake, has
/// no room at present, or is going down.
bool is_passing(std::string_view state) {
  return state.starts_with("40") || state.starts_with("53") || state.starts_with("57") ||
         state == "55P03";
}

}  // namespace

PostgresConnection::PostgresConnection(const PostgresOptions& options)
    : reply_timeout_{options.reply_timeout} {
  // What comes before the URI is a default, what comes after cannot be changed by it.
  constexpr std::array<const char*, 9> kNames{
      "connect_timeout",  "keepalives_idle",  "keepalives_interval",
      "keepalives_count", "tcp_user_timeout", "fallback_application_name",
      "dbname",           "client_encoding",  nullptr};
  const std::string silence = std::to_string(std::chrono::milliseconds{reply_timeout_}.count());
  const std::array<const char*, 9> values{
      "10",   "30",   "10", "3", silence.c_str(), "errand-distributors", options.uri.c_str(),
      "UTF8", nullptr};
  connection_.reset(PQconnectdbParams(kNames.data(), values.data(), 1));
  if (is_broken()) {
    throw StorageException{"cannot reach PostgreSQL: " + one_line(PQerrorMessage(handle())),
                           Retry::helps};
  }
  PQsetNoticeProcessor(
      handle(), [](void*, const char*) {}, nullptr);
}

void PostgresConnection::execute(const std::string& sql) {
  check(await_answer(PQsendQuery(handle(), sql.c_str())).get());
}

Answer PostgresConnection::query(const std::string& sql, const std::vector<Parameter>& parameters) {
  std::vector<std::string> numbers(parameters.size());
  std::vector<const char*> values(parameters.size(), nullptr);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (const auto* number = std::get_if<std::int64_t>(&parameters[i])) {
      numbers[i] = std::to_string(*number);
      values[i] = numbers[i].c_str();
    } else if (const auto* text = std::get_if<std::string>(&parameters[i])) {
      values[i] = text->c_str();
    }
  }
  const Result result =
      await_answer(PQsendQueryParams(handle(), sql.c_str(), static_cast<int>(values.size()),
                                     nullptr, values.data(), nullptr, nullptr, 0));
  check(result.get());
  return answer_of(result.get());
}

void PostgresConnection::commit() {
  Result result;
  try {
    result = await_answer(PQsendQuery(handle(), "COMMIT"));
    check(result.get());
  } catch (const StorageException& error) {
    if (!is_broken()) throw;
    throw StorageException{std::string{"while it committed: "} + error.what(), Retry::in_doubt};
  }
  // A transaction that failed before ends by COMMIT, too, but as ROLLBACK.
  if (std::string_view{PQcmdStatus(result.get())} != "COMMIT") {
    throw StorageException{"PostgreSQL rolled the transaction back", Retry::useless};
  }
}

void PostgresConnection::rollback() noexcept {
  if (is_broken()) return;
  try {
    execute("ROLLBACK");
  } catch (const std::exception&) {
    connection_.reset();  // which rolls back, too
  }
}

PostgresConnection::Result PostgresConnection::await_answer(int sent) {
  // A server that still answers ends the statement itself, by statement_timeout, and says so.
  constexpr std::chrono::seconds kForItsAnswer{1};
  const auto deadline = std::chrono::steady_clock::now() + reply_timeout_ + kForItsAnswer;
  Result last;
  while (sent == 1) {
    // Where the connection has ended it stays busy, but the result tells of the end.
    while (PQisBusy(handle()) != 0 && await_input(deadline)) {
    }
    Result next{PQgetResult(handle())};
    if (!next) break;
    last = std::move(next);
  }
  return last;
}

bool PostgresConnection::await_input(std::chrono::steady_clock::time_point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd socket{PQsocket(handle()), POLLIN, 0};
  const int ready = left.count() <= 0 ? 0 : poll(&socket, 1, static_cast<int>(left.count()));
  if (ready < 0 && errno == EINTR) return true;
  if (ready == 0) {
    connection_.reset();
    throw StorageException{"PostgreSQL did not answer for " +
                               std::to_string(reply_timeout_.count()) + " s, see reply_timeout",
                           Retry::helps};
  }
  // A record of TLS holds up to 16 kB, of which one call may take 8: the rest would not make the
  // socket ready again.
  for (int calls = PQsslInUse(handle()) != 0 ? 3 : 1; calls > 0; --calls) {
    if (PQconsumeInput(handle()) != 1) return false;
  }
  return true;
}

void PostgresConnection::check(const PGresult* result) const {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return;
  if (is_broken()) {
    throw StorageException{
        "the connection to PostgreSQL broke: " + one_line(PQerrorMessage(handle())), Retry::helps};
  }
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  throw StorageException{"PostgreSQL: " + std::string{message != nullptr ? message : "no answer"},
                         state == nullptr || is_passing(state) ? Retry::helps : Retry::useless};
}

Answer PostgresConnection::answer_of(PGresult* result) {
  Answer answer;
  answer.rows.reserve(static_cast<std::size_t>(PQntuples(result)));
  for (int row = 0; row < PQntuples(result); ++row) {
    Row& values = answer.rows.emplace_back();
    values.reserve(static_cast<std::size_t>(PQnfields(result)));
    for (int column = 0; column < PQnfields(result); ++column) {
      const auto size = static_cast<std::size_t>(PQgetlength(result, row, column));
      values.push_back(PQgetisnull(result, row, column) != 0
                           ? Value{}
                           : Value{std::string{PQgetvalue(result, row, column), size}});
    }
  }
  const std::string_view changed = PQcmdTuples(result);
  std::from_chars(changed.data(), changed.data() + changed.size(), answer.changed);
  return answer;
}

}  // namespace errand::distributors
