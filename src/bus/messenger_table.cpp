#include "bus/messenger_table.hpp"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cstdint>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"
#include "errand/task.hpp"

#include "core/document_rules.hpp"
#include "core/dsn_options.hpp"

namespace errand::detail {
namespace {

constexpr std::string_view kKeptSuffix = ":consumed";
/// What the column holds.
constexpr std::size_t kMostQueueName = 190;

std::uint32_t crc32(std::string_view text) {
  constexpr std::uint32_t kPolynomial = 0xEDB88320U;
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const char byte : text) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? kPolynomial : 0U);
  }
  return ~sum;
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= 63 && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// It becomes part of statements: nothing but plain names gets there.
bool is_table_name(std::string_view text, bool may_have_schema) {
  const std::size_t dot = may_have_schema ? text.find('.') : std::string_view::npos;
  if (dot == std::string_view::npos) return is_identifier(text);
  return is_identifier(text.substr(0, dot)) && is_identifier(text.substr(dot + 1));
}

[[noreturn]] void refuse(const Dsn& dsn, const std::string& what) {
  throw ConfigurationException{dsn.to_string() + ": " + what};
}

std::int64_t parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

}  // namespace

std::string MessengerTable::kept_queue() const { return queue + std::string{kKeptSuffix}; }

std::string MessengerTable::index_name() const {
  std::string index = "IDX_";
  for (const std::string_view part :
       {std::string_view{name}, std::string_view{"queue_name"}, std::string_view{"available_at"},
        std::string_view{"delivered_at"}, std::string_view{"id"}}) {
    std::array<char, 8> digits{};
    const char* end = std::to_chars(digits.begin(), digits.end(), crc32(part), 16).ptr;
    index.append(static_cast<const char*>(digits.data()), end);
  }
  std::ranges::transform(index, index.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return index;
}

MessengerTable messenger_table(const Dsn& dsn) {
  MessengerTable table;
  if (const auto name = dsn.option("table_name")) table.name = *name;
  if (const auto queue = dsn.option("queue_name")) table.queue = *queue;
  if (!is_table_name(table.name, dsn.kind() == EngineKind::postgres)) {
    refuse(dsn, "table_name must be letters, digits and underscores" +
                    std::string{dsn.kind() == EngineKind::postgres ? ", or schema.table" : ""});
  }
  try {
    check_label("queue_name", table.queue);
  } catch (const ValidationException& error) {
    refuse(dsn, error.what());
  }
  table.redeliver_timeout =
      std::chrono::seconds{number_option(dsn, "redeliver_timeout", 3600, 1, 1'000'000'000)};
  table.auto_setup = switch_option(dsn, "auto_setup", true);
  table.remove_after = std::chrono::floor<std::chrono::seconds>(
      seconds_option(dsn, "remove_after", std::chrono::seconds{0}));
  if (table.remove_after.count() > 0 && table.kept_queue().size() > kMostQueueName) {
    refuse(dsn, "remove_after needs a queue_name of at most " +
                    std::to_string(kMostQueueName - kKeptSuffix.size()) + " bytes");
  }
  return table;
}

std::string transport_name(const TransportOptions& options, const MessengerTable& table) {
  return options.name.empty() ? table.queue : options.name;
}

bool may_set_up(const TransportOptions& options, bool auto_setup) {
  using enum TransportOptions::Open;
  return options.open == setup || (options.open == create && auto_setup);
}

void check_outgoing(const Outgoing& message) {
  check_document("body", message.message.body, kMaxDocumentBytes);
  for (const auto& [name, value] : message.message.headers) {
    check_document("the name of a header", name, kMaxDocumentBytes);
    check_document("header " + name, value, kMaxDocumentBytes);
  }
}

std::string wire_headers_json(const Headers& headers) {
  if (headers.empty()) return "[]";
  boost::json::object object;
  for (const auto& [name, value] : headers) object[name] = value;
  return boost::json::serialize(object);
}

Headers read_wire_headers(std::string_view json) {
  const auto unreadable = [&] { return Headers{{kUnreadableHeaders, std::string{json}}}; };
  try {
    const boost::json::value value = parse_json(json);
    if (value.is_array() && value.get_array().empty()) return {};
    if (!value.is_object()) return unreadable();
    Headers headers;
    for (const auto& [name, text] : value.get_object()) {
      if (!text.is_string()) return unreadable();
      headers.emplace(name, std::string{text.get_string()});
    }
    return headers;
  } catch (const ValidationException&) {
    return unreadable();
  }
}

Seconds due_time(Timestamp now, std::chrono::milliseconds delay) {
  // Further away than any column could say.
  constexpr std::chrono::milliseconds kFarthest = std::chrono::years{1000};
  if (delay.count() <= 0) return whole_seconds(now);
  return std::chrono::ceil<std::chrono::seconds>(now + std::min(delay, kFarthest));
}

std::string hold_mark(Seconds delivered_at) {
  return std::to_string(delivered_at.time_since_epoch().count());
}

HoldKey hold_key(const Hold& hold) { return {row_id(hold.id), parse_number(hold.mark)}; }

std::int64_t row_id(std::string_view id) { return parse_number(id); }

}  // namespace errand::detail
