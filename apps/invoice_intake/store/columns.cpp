#include "invoice_intake/store/columns.hpp"

#include <charconv>

#include "errand/errors.hpp"

namespace errand::invoices {
namespace {

[[noreturn]] void refuse(const char* expected, const Text& column) {
  throw StorageException{std::string{"a column holds "} + (column ? "`" + *column + "`" : "NULL") +
                             " where there should be " + expected,
                         StorageException::Retry::useless};
}

}  // namespace

const std::string& text_of(const Text& column) {
  if (!column) refuse("a text", column);
  return *column;
}

int integer_of(const Text& column) {
  int value = 0;
  if (!column) return value;
  const auto [end, error] = std::from_chars(column->data(), column->data() + column->size(), value);
  if (error != std::errc{} || end != column->data() + column->size()) refuse("a number", column);
  return value;
}

std::optional<double> number_of(const Text& column) {
  if (!column) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(column->data(), column->data() + column->size(), value);
  if (error != std::errc{} || end != column->data() + column->size()) refuse("a number", column);
  return value;
}

std::optional<Timestamp> optional_time_of(const Text& column) {
  if (!column) return std::nullopt;
  std::string_view text = *column;
  if (text.ends_with("+00")) text.remove_suffix(3);  // PostgreSQL, in UTC
  const std::optional<Timestamp> time = parse_sql_time(text);
  if (!time) refuse("a time", column);
  return time;
}

Timestamp time_of(const Text& column) {
  const std::optional<Timestamp> time = optional_time_of(column);
  if (!time) refuse("a time", column);
  return *time;
}

std::string time_text(Timestamp time) { return to_sql_time(time); }

Text optional_time_text(const std::optional<Timestamp>& time) {
  if (!time) return std::nullopt;
  return time_text(*time);
}

std::string like_pattern(const std::string& part) {
  std::string pattern = "%";
  for (const char c : part) {
    if (c == '%' || c == '_' || c == '!') pattern += '!';
    pattern += c;
  }
  return pattern + "%";
}

std::vector<Profile> read_profiles(const Rows& rows) {
  std::vector<Profile> profiles;
  for (const std::vector<Text>& row : rows.rows) {
    profiles.push_back(Profile{.user_id = UserId::from_string(text_of(row[0])),
                               .email = text_of(row[1]),
                               .display_name = text_of(row[2]),
                               .created_at = time_of(row[3])});
  }
  return profiles;
}

}  // namespace errand::invoices
