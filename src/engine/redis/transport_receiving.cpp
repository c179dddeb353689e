#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "engine/redis/stream_entries.hpp"
#include "engine/redis/transport.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

/// Of delayed messages that one call moves into the stream; the others have their turn between.
constexpr std::int64_t kMostMoved = 1000;

/// A new message is in its first delivery; see mark_of() in scripts/streams.lua.
std::string mark_of_first_delivery(const std::string& consumer) { return "1 " + consumer; }

}  // namespace

std::vector<Delivery> RedisTransport::receive(std::size_t limit) {
  if (limit == 0) return {};
  try {
    return receive_from_group(limit);
  } catch (const NoGroup&) {
    // Another program has deleted the stream.
    if (!may_create_) throw;
    group_.create();
    return receive_from_group(limit);
  }
}

std::vector<Delivery> RedisTransport::receive_from_group(std::size_t limit) {
  is_in_group_ = true;
  std::vector<Delivery> deliveries;
  if (is_time_to_look_for_lost()) deliveries = take_over(limit);
  if (deliveries.size() == limit) return deliveries;
  try {
    read_new(limit - deliveries.size(), deliveries);
  } catch (const StorageException&) {
    if (deliveries.empty()) throw;  // else it comes again if it stays
  }
  return deliveries;
}

bool RedisTransport::is_time_to_look_for_lost() {
  const std::lock_guard lock{mutex_};
  const Timestamp at = clock_.now();
  if (looked_for_lost_at_ && at < *looked_for_lost_at_ + settings_.claim_interval) return false;
  looked_for_lost_at_ = at;
  return true;
}

void RedisTransport::look_for_lost_next_time() {
  const std::lock_guard lock{mutex_};
  looked_for_lost_at_.reset();
}

std::vector<Delivery> RedisTransport::take_over(std::size_t limit) {
  const std::size_t most = std::min(limit, StreamGroup::kMost.items);
  Command arguments;
  arguments.add(too_long()).add(static_cast<std::int64_t>(most)).add(consumer_).add(consumers_);
  const Reply reply = group_.write(stream_scripts().take_over, arguments);
  std::vector<Delivery> deliveries;
  const Value taken = reply.value();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    deliveries.push_back(
        {.hold = {std::string{taken[i][0].text()}, std::string{taken[i][2].text()}},
         .message = message_in(taken[i][1])});
  }
  if (deliveries.size() == most) look_for_lost_next_time();  // there may be more
  return deliveries;
}

void RedisTransport::read_new(std::size_t limit, std::vector<Delivery>& deliveries) {
  const Command due = group_.arguments()
                          .add(std::int64_t{now().time_since_epoch().count()})
                          .add(kMostMoved)
                          .add(settings_.stream_max_entries);
  const std::array<Command, 2> commands{
      Command{"EVALSHA"}.add(stream_scripts().due.digest()).add("0").add(due),
      Command{"XREADGROUP"}
          .add("GROUP")
          .add(settings_.group)
          .add(consumer_)
          .add("COUNT")
          .add(static_cast<std::int64_t>(limit))
          .add("STREAMS")
          .add(settings_.stream)
          .add(">")};
  std::vector<Reply> replies = group_.server().write([&](Connection& connection) {
    std::vector<Reply> both = connection.run(commands);
    try {
      check(both[0].value());
    } catch (const UnknownScript&) {
      run_script(connection, stream_scripts().due, due);
      // What it has moved is there for the next call, unless there was nothing else now.
      if (both[1].value().is_nil()) both[1] = std::move(connection.run({&commands[1], 1}).front());
    } catch (const StorageException&) {
      // What was read is ours and must be handled; the error comes again if it stays.
      if (both[1].value().is_error() || both[1].value().is_nil()) throw;
    }
    return both;
  });
  check(replies[1].value());
  const Value entries = replies[1].value()[0][1];
  const std::string mark = mark_of_first_delivery(consumer_);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    deliveries.push_back(
        {.hold = {std::string{entries[i][0].text()}, mark}, .message = message_in(entries[i][1])});
  }
}

std::optional<milliseconds> RedisTransport::next_due() {
  const Timestamp exactly = clock_.now();
  const std::optional<Timestamp> due = delayed_.next_due(exactly);
  if (!due) return std::nullopt;
  return std::chrono::ceil<milliseconds>(*due - exactly);
}

}  // namespace errand::redis
