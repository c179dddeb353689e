#include <algorithm>
#include <cstdint>

#include "bus/settle_elsewhere.hpp"
#include "engine/redis/in_parts.hpp"
#include "engine/redis/stream_bytes.hpp"
#include "engine/redis/stream_entries.hpp"
#include "engine/redis/transport.hpp"

namespace errand::redis {

using std::chrono::milliseconds;

TransportStats RedisTransport::stats() {
  const Timestamp exactly = clock_.now();
  Command arguments;
  arguments.add(std::int64_t{now().time_since_epoch().count()}).add(too_long());
  const Reply reply = group_.read(stream_scripts().stats, arguments);
  const Value found = reply.value();
  const std::int64_t waiting = found[0].integer();
  const std::int64_t held = found[1].integer();
  const std::int64_t held_too_long = found[2].integer();
  const std::int64_t delayed = found[3].integer();
  const std::int64_t due = found[4].integer();
  TransportStats stats{.ready = waiting + held_too_long + due,
                       .delayed = delayed - due,
                       .in_flight = held - held_too_long};
  std::optional<Timestamp> oldest;
  if (!found[5].is_nil()) oldest = time_in(found[5].text());
  if (!found[6].is_nil()) {
    const Timestamp since{milliseconds{found[6].integer()}};
    oldest = oldest ? std::min(*oldest, since) : since;
  }
  if (oldest) {
    stats.oldest_ready =
        std::max(milliseconds{0}, std::chrono::floor<milliseconds>(exactly - *oldest));
  }
  return stats;
}

std::vector<StoredMessage> RedisTransport::list(std::size_t limit, std::size_t offset) {
  Command arguments;
  arguments.add(static_cast<std::int64_t>(limit)).add(static_cast<std::int64_t>(offset));
  const Reply reply = group_.read(stream_scripts().list, arguments);
  std::vector<StoredMessage> messages;
  for (std::size_t i = 0; i < reply.value().size(); ++i) {
    messages.push_back(stored_message_in(reply.value()[i], clock_.now()));
  }
  return messages;
}

std::optional<StoredMessage> RedisTransport::find(const std::string& id) {
  std::optional<StoredMessage> found;
  if (parse_stream_id(id)) {
    const Reply reply = group_.read(stream_scripts().find, Command{id});
    if (reply.value().size() > 0) found = stored_message_in(reply.value(), clock_.now());
    return found;
  }
  delayed_.find(id, [&](const Value& row) { found = stored_message_in(row, clock_.now()); });
  return found;
}

std::size_t RedisTransport::remove(std::span<const std::string> ids) {
  std::vector<std::string> in_stream;
  std::vector<std::string> delayed;
  for (const std::string& id : ids) (parse_stream_id(id) ? in_stream : delayed).push_back(id);
  std::size_t count = 0;
  const auto add_id = [](Command& arguments, const std::string& id) { arguments.add(id); };
  in_parts(std::span<const std::string>{in_stream}, StreamGroup::kMost, add_id,
           [&](const Command& arguments) {
             Command silence;
             silence.add(too_long());
             const Reply reply = group_.write(stream_scripts().remove, silence, arguments);
             count += static_cast<std::size_t>(reply.value().integer());
           });
  return count + delayed_.remove(delayed);
}

MoveStatus RedisTransport::move(const std::string& id, const MessageSettlement::Forward& forward) {
  const RedisTransport* to = on_same_server(forward.to);
  if (to == nullptr) return detail::move_elsewhere(*this, id, forward, clock_.now());
  const bool in_stream = parse_stream_id(id).has_value();
  const std::optional<std::string> member = in_stream ? std::string{} : delayed_.member(id);
  if (!member) return MoveStatus::left_alone;
  Command arguments;
  arguments.add(too_long()).add(in_stream ? id : "").add(*member);
  to->add_forward(arguments, forward.message);
  const Reply reply = group_.write(stream_scripts().move, arguments);
  if (reply.value().integer() != 1) return MoveStatus::left_alone;
  if (to == this) waker_.tell();
  return MoveStatus::moved;
}

std::size_t RedisTransport::purge() {
  const Reply reply = group_.write(stream_scripts().purge);
  return static_cast<std::size_t>(reply.value().integer());
}

}  // namespace errand::redis
