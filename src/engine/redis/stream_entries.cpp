#include "engine/redis/stream_entries.hpp"

#include <chrono>

#include "bus/symfony_stamps.hpp"
#include "core/json_text.hpp"
#include "engine/redis/stream_bytes.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

/// As the stamp says, which PHP adds to each message it delays.
milliseconds delay_in(const Headers& headers) {
  const auto stamp = detail::last_stamp(headers, detail::kDelayStamp);
  if (!stamp) return milliseconds{0};
  const boost::json::value* delay = stamp->if_contains("delay");
  return milliseconds{delay != nullptr && delay->is_int64() ? delay->get_int64() : 0};
}

}  // namespace

WireMessage message_in(const Value& fields) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text() == "message") return read_message(fields[i + 1].text());
  }
  // Another program's. It is nothing we could handle, and nothing to throw away.
  WireMessage message;
  detail::JsonObjectText object{message.body};
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    object.add_string(fields[i].text(), fields[i + 1].text());
  }
  object.close();
  return message;
}

Timestamp time_in(std::string_view stream_id) {
  return Timestamp{milliseconds{parse_stream_id(stream_id).value_or(StreamId{}).milliseconds}};
}

StoredMessage stored_message_in(const Value& row, Timestamp now) {
  StoredMessage stored{.id = std::string{row[0].text()}};
  const bool is_delayed = row.size() > 3;
  if (is_delayed) {
    stored.message = read_message(row[1].text());
    stored.available_at = Timestamp{milliseconds{row[3].integer()}};
    stored.created_at = stored.available_at - delay_in(stored.message.headers);
    return stored;
  }
  stored.message = message_in(row[1]);
  stored.created_at = time_in(stored.id);
  stored.available_at = stored.created_at;
  if (!row[2].is_nil()) stored.delivered_at = now - milliseconds{row[2].integer()};
  return stored;
}

}  // namespace errand::redis
