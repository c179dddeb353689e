#include "bus/symfony_stamps.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <limits>
#include <vector>

#include "errand/errors.hpp"
#include "errand/json.hpp"

namespace errand::detail {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostStamps = 10;

/// How a bad stamp is called once it is set aside.
std::string name_aside(std::string_view stamp) {
  return "X-Errand-Bad-Stamp-" + std::string{stamp.substr(kStampPrefix.size())};
}

/// nullopt: no array of objects.
std::optional<json::array> parse_stamps(std::string_view text) {
  try {
    json::value value = parse_json(text);
    if (!value.is_array()) return std::nullopt;
    json::array& array = value.get_array();
    const bool all_objects =
        std::ranges::all_of(array, [](const json::value& stamp) { return stamp.is_object(); });
    if (!all_objects) return std::nullopt;
    return std::move(array);
  } catch (const ValidationException&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<json::object> last_stamp(const Headers& headers, std::string_view stamp) {
  const auto header = headers.find(stamp);
  if (header == headers.end()) return std::nullopt;
  const std::optional<json::array> stamps = parse_stamps(header->second);
  if (!stamps || stamps->empty()) return std::nullopt;
  return stamps->back().get_object();
}

void add_stamp(Headers& headers, const std::string& stamp, const json::object& value) {
  json::array stamps;
  if (const auto header = headers.find(stamp); header != headers.end()) {
    if (auto known = parse_stamps(header->second)) {
      stamps = std::move(*known);
    } else {
      headers.insert_or_assign(name_aside(stamp), header->second);
    }
  }
  stamps.push_back(value);
  headers.insert_or_assign(stamp, json::serialize(stamps));
}

void cut_stamps(Headers& headers, std::string_view stamp) {
  const auto header = headers.find(stamp);
  if (header == headers.end()) return;
  std::optional<json::array> stamps = parse_stamps(header->second);
  if (!stamps || stamps->size() <= kMostStamps) return;
  const auto surplus = static_cast<std::ptrdiff_t>(stamps->size() - kMostStamps);
  stamps->erase(stamps->begin() + 1, stamps->begin() + 1 + surplus);
  header->second = json::serialize(*stamps);
}

std::optional<std::string> find_bad_stamp(const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name.starts_with(kStampPrefix) && !parse_stamps(value)) return name;
  }
  return std::nullopt;
}

void set_bad_stamps_aside(Headers& headers) {
  while (const std::optional<std::string> bad = find_bad_stamp(headers)) {
    auto header = headers.extract(*bad);
    header.key() = name_aside(*bad);
    headers.insert(std::move(header));
  }
}

std::optional<std::string> message_id(const Headers& headers) {
  const auto header = headers.find(std::string_view{kMessageIdStamp});
  if (header == headers.end()) return std::nullopt;
  const std::optional<json::array> stamps = parse_stamps(header->second);
  if (!stamps || stamps->empty()) return std::nullopt;
  const json::value* id = stamps->front().get_object().if_contains("id");
  if (id == nullptr) return std::nullopt;
  if (id->is_int64()) return std::to_string(id->get_int64());
  // It goes into log lines and environments: nothing else than what transports call messages.
  constexpr std::size_t kLongest = 200;
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!id->is_string() || id->get_string().empty() || id->get_string().size() > kLongest ||
      !std::ranges::all_of(id->get_string(), is_plain)) {
    return std::nullopt;
  }
  return std::string{id->get_string()};
}

void note_message_id(Headers& headers, std::string_view id) {
  if (headers.contains(std::string_view{kMessageIdStamp})) return;
  add_stamp(headers, kMessageIdStamp, {{"id", id}});
}

int retry_count(const Headers& headers) {
  const std::optional<json::object> stamp = last_stamp(headers, kRedeliveryStamp);
  if (!stamp) return 0;
  const json::value* count = stamp->if_contains("retryCount");
  if (count == nullptr || !count->is_int64()) return 0;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() - 1;
  return static_cast<int>(std::clamp<std::int64_t>(count->get_int64(), 0, kMost));
}

}  // namespace errand::detail
