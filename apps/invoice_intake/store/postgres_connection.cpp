#include "invoice_intake/store/postgres_connection.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "errand/errors.hpp"

namespace errand::invoices {
namespace {

using Retry = StorageException::Retry;

constexpr std::array<std::string_view, 5> kOptionsOfErrand{"ttl", "connections", "reply_timeout",
                                                           "prepare", "listen"};

struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

std::string one_line(const char* message) {
  std::string text{message};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

/// Whether the same statement may succeed later: the server rolled it back for another's sake, or
/// is going down.
bool is_passing(std::string_view state) {
  return state.starts_with("40") || state.starts_with("53") || state.starts_with("57") ||
         state == "55P03";
}

void check(PGconn* connection, const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return;
  if (PQstatus(connection) != CONNECTION_OK) {
    throw StorageException{
        "the connection to PostgreSQL broke: " + one_line(PQerrorMessage(connection)),
        Retry::helps};
  }
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  throw StorageException{"PostgreSQL: " + std::string{message != nullptr ? message : "no answer"} +
                             (state != nullptr ? " (" + std::string{state} + ")" : ""),
                         state != nullptr && !is_passing(state) ? Retry::useless : Retry::helps};
}

Rows read_rows(const PGresult* result) {
  Rows rows;
  const int columns = PQnfields(result);
  rows.rows.resize(static_cast<std::size_t>(PQntuples(result)));
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const int row = static_cast<int>(i);
    for (int column = 0; column < columns; ++column) {
      if (PQgetisnull(result, row, column) != 0) {
        rows.rows[i].emplace_back(std::nullopt);
      } else {
        rows.rows[i].emplace_back(
            std::string{PQgetvalue(result, row, column),
                        static_cast<std::size_t>(PQgetlength(result, row, column))});
      }
    }
  }
  const std::string_view affected = PQcmdTuples(const_cast<PGresult*>(result));  // NOLINT: libpq
  std::from_chars(affected.data(), affected.data() + affected.size(), rows.affected);
  return rows;
}

}  // namespace

std::string libpq_uri(const Dsn& dsn) {
  const std::string& text = dsn.secret_text();
  const std::size_t question = text.find('?');
  std::string uri = text.substr(0, question);
  if (question == std::string::npos) return uri;
  char separator = '?';
  for (std::size_t begin = question + 1; begin < text.size();) {
    const std::size_t end = std::min(text.find('&', begin), text.size());
    const std::string_view option = std::string_view{text}.substr(begin, end - begin);
    if (std::ranges::find(kOptionsOfErrand, option.substr(0, option.find('='))) ==
        kOptionsOfErrand.end()) {
      uri.append(1, separator).append(option);
      separator = '&';
    }
    begin = end + 1;
  }
  return uri;
}

PostgresConnection::PostgresConnection(const std::string& uri)
    : connection_{PQconnectdb(uri.c_str())} {
  if (PQstatus(handle()) != CONNECTION_OK) {
    throw StorageException{"cannot reach PostgreSQL: " + one_line(PQerrorMessage(handle())),
                           Retry::helps};
  }
  PQsetNoticeProcessor(
      handle(), [](void*, const char*) {}, nullptr);
}

Rows run_statement(PGconn* connection, const std::string& sql,
                   const std::vector<Text>& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const Text& parameter : parameters) {
    values.push_back(parameter ? parameter->c_str() : nullptr);
  }
  const Result result{PQexecParams(connection, sql.c_str(), static_cast<int>(values.size()),
                                   nullptr, values.data(), nullptr, nullptr, 0)};
  check(connection, result.get());
  return read_rows(result.get());
}

Rows run_script(PGconn* connection, const std::string& sql) {
  const Result result{PQexec(connection, sql.c_str())};
  check(connection, result.get());
  return read_rows(result.get());
}

void commit(PGconn* connection) {
  const Result result{PQexec(connection, "COMMIT")};
  if (PQstatus(connection) != CONNECTION_OK) {
    throw StorageException{"the connection to PostgreSQL broke while it committed: " +
                               one_line(PQerrorMessage(connection)),
                           Retry::in_doubt};
  }
  check(connection, result.get());
  // A transaction that failed before ends by COMMIT, too, but as ROLLBACK.
  if (std::string_view{PQcmdStatus(result.get())} != "COMMIT") {
    throw StorageException{"PostgreSQL rolled the transaction back", Retry::useless};
  }
}

}  // namespace errand::invoices
