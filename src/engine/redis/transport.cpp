#include "engine/redis/transport.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unistd.h>
#include <utility>

#include "errand/errors.hpp"
#include "errand/redis.hpp"
#include "errand/task_id.hpp"

#include "bus/messenger_table.hpp"
#include "bus/settle_elsewhere.hpp"
#include "bus/symfony_stamps.hpp"
#include "core/json_text.hpp"
#include "engine/redis/in_parts.hpp"
#include "engine/redis/stream_bytes.hpp"

namespace errand {
namespace redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MostOfAPart kMost{.items = 1000, .bytes = std::size_t{64} * 1024 * 1024};
/// Of delayed messages that one call moves into the stream; the others have their turn between.
constexpr std::int64_t kMostMoved = 1000;
/// Of delayed messages that one call looks at.
constexpr std::int64_t kScanned = 1000;
/// Old kept messages are looked for at most this often.
constexpr seconds kBetweenRemovals{60};

std::string process_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const std::string id = TaskId::generate().to_string();
  return std::string{host.data()} + "." + std::to_string(getpid()) + "." +
         id.substr(id.size() - 12);
}

/// A new message is in its first delivery; see mark_of() in scripts/streams.lua.
std::string mark_of_first_delivery(const std::string& consumer) { return "1 " + consumer; }

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

/// As the stamp says, which PHP adds to each message it delays.
milliseconds delay_in(const Headers& headers) {
  const auto stamp = detail::last_stamp(headers, detail::kDelayStamp);
  if (!stamp) return milliseconds{0};
  const boost::json::value* delay = stamp->if_contains("delay");
  return milliseconds{delay != nullptr && delay->is_int64() ? delay->get_int64() : 0};
}

void add_hold(Command& arguments, const Hold& hold) { arguments.add(hold.id).add(hold.mark); }

bool can_be_held(const Hold& hold) { return parse_stream_id(hold.id).has_value(); }

std::vector<Hold> those_that_can_be_held(std::span<const Hold> holds) {
  std::vector<Hold> possible;
  std::ranges::copy_if(holds, std::back_inserter(possible), can_be_held);
  return possible;
}

}  // namespace

RedisTransport::RedisTransport(const Dsn& dsn, const TransportOptions& options)
    : settings_{stream_settings(dsn)},
      name_{options.name.empty() ? settings_.stream : options.name},
      consumers_{settings_.consumer + "."},
      consumer_{consumers_ + process_name()},
      clock_{*options.clock},
      may_create_{detail::may_set_up(options, settings_.auto_setup)},
      server_{settings_.connection, settings_.most_connections},
      waker_{settings_.connection, settings_.stream, *options.logger} {
  if (group_exists()) return;
  if (may_create_) {
    setup();
    return;
  }
  throw StorageException{dsn.to_string() + " has no stream " + settings_.stream + " with a group " +
                             settings_.group + " yet; create it with `errand transport setup`",
                         StorageException::Retry::useless};
}

RedisTransport::~RedisTransport() {
  if (!is_in_group_) return;
  try {
    server_.write([&](Connection& connection) {
      return run_script(connection, stream_scripts().leave, of_group().add(consumer_));
    });
  } catch (const std::exception&) {
    // Somebody else removes the consumer when it has been silent for long.
  }
}

RedisTransport::Milliseconds RedisTransport::now() const {
  return std::chrono::floor<milliseconds>(clock_.now());
}

std::int64_t RedisTransport::due_after(milliseconds delay) const {
  // Further away than anybody waits, and near enough to be counted.
  constexpr milliseconds kFarthest = std::chrono::years{1000};
  return (now() + std::min(delay, kFarthest)).time_since_epoch().count();
}

Command RedisTransport::of_group() const {
  Command arguments;
  arguments.add(settings_.stream).add(settings_.group);
  return arguments;
}

bool RedisTransport::group_exists() {
  const std::vector<Reply> replies = server_.read([&](Connection& connection) {
    const Command ask = Command{"XINFO"}.add("GROUPS").add(settings_.stream);
    return connection.run({&ask, 1});
  });
  const Value groups = replies.front().value();
  if (groups.is_error() && groups.text() == "ERR no such key") return false;
  check(groups);
  bool found = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    found = found || (groups[i][0].text() == "name" && groups[i][1].text() == settings_.group);
  }
  const bool deletes = settings_.delete_after_ack || settings_.delete_after_reject;
  if (deletes && groups.size() + (found ? 0 : 1) > 1) {
    throw StorageException{
        "the stream " + settings_.stream +
            " has another group: messages would be deleted before all groups have read them; use "
            "one group, or delete_after_ack=no&delete_after_reject=no",
        StorageException::Retry::useless};
  }
  return found;
}

void RedisTransport::setup() {
  const std::vector<Reply> replies = server_.write([&](Connection& connection) {
    const Command create = Command{"XGROUP"}
                               .add("CREATE")
                               .add(settings_.stream)
                               .add(settings_.group)
                               .add("0")
                               .add("MKSTREAM");
    return connection.run({&create, 1});
  });
  const Value reply = replies.front().value();
  if (reply.is_error() && reply.text().starts_with("BUSYGROUP")) return;
  check(reply);
}

// --- sending
// --------------------------------------------------------------------------------------

void RedisTransport::send(std::span<const Outgoing> messages) {
  if (messages.empty()) return;
  std::vector<Command> commands;
  commands.reserve(messages.size() + 2);
  commands.emplace_back("MULTI");
  const std::string delayed = delayed_key();
  for (const Outgoing& outgoing : messages) {
    detail::check_outgoing(outgoing);
    if (outgoing.delay.count() > 0) {
      commands.push_back(
          std::move(Command{"ZADD"}
                        .add(delayed)
                        .add("NX")
                        .add(due_after(outgoing.delay))
                        .add(write_message(outgoing.message, TaskId::generate().to_string()))));
      continue;
    }
    Command add{"XADD"};
    add.add(settings_.stream);
    if (settings_.stream_max_entries > 0) {
      add.add("MAXLEN").add("~").add(settings_.stream_max_entries);
    }
    commands.push_back(std::move(add.add("*").add("message").add(write_message(outgoing.message))));
  }
  commands.emplace_back("EXEC");
  const std::vector<Reply> replies =
      server_.write([&](Connection& connection) { return connection.run(commands); });
  for (const Reply& reply : replies) check(reply.value());
  const Value added = replies.back().value();
  for (std::size_t i = 0; i < added.size(); ++i) check(added[i]);
  waker_.tell();
}

// --- receiving
// ------------------------------------------------------------------------------------

std::vector<Delivery> RedisTransport::receive(std::size_t limit) {
  if (limit == 0) return {};
  try {
    return receive_from_group(limit);
  } catch (const NoGroup&) {
    // Another program has deleted the stream.
    if (!may_create_) throw;
    setup();
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

std::vector<Delivery> RedisTransport::take_over(std::size_t limit) {
  const Reply reply = server_.write([&](Connection& connection) {
    return run_script(connection, stream_scripts().take_over,
                      of_group()
                          .add(std::int64_t{redeliver_timeout().count()})
                          .add(static_cast<std::int64_t>(std::min(limit, kMost.items)))
                          .add(consumer_)
                          .add(consumers_));
  });
  std::vector<Delivery> deliveries;
  const Value taken = reply.value();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    deliveries.push_back(
        {.hold = {std::string{taken[i][0].text()}, std::string{taken[i][2].text()}},
         .message = message_in(taken[i][1])});
  }
  if (deliveries.size() == std::min(limit, kMost.items)) {
    const std::lock_guard lock{mutex_};
    looked_for_lost_at_.reset();  // there may be more
  }
  return deliveries;
}

void RedisTransport::read_new(std::size_t limit, std::vector<Delivery>& deliveries) {
  const Command due = of_group()
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
  std::vector<Reply> replies = server_.write([&](Connection& connection) {
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
  const Reply reply = server_.read([&](Connection& connection) {
    const std::int64_t at = std::chrono::floor<milliseconds>(exactly).time_since_epoch().count();
    return connection.run(Command{"ZRANGEBYSCORE"}
                              .add(delayed_key())
                              .add("(" + std::to_string(at))
                              .add("+inf")
                              .add("WITHSCORES")
                              .add("LIMIT")
                              .add("0")
                              .add("1"));
  });
  if (reply.value().size() < 2) return std::nullopt;
  const Timestamp due{milliseconds{reply.value()[1].integer()}};
  return std::chrono::ceil<milliseconds>(due - exactly);
}

// --- holds
// ----------------------------------------------------------------------------------------

void RedisTransport::ask_of_holds(const Script& script, const Command& before,
                                  const Command& arguments, std::size_t holds,
                                  std::vector<bool>& answers) {
  try {
    const Reply reply = server_.write(
        [&](Connection& connection) { return run_script(connection, script, before, arguments); });
    for (std::size_t i = 0; i < holds; ++i) {
      answers.push_back(reply.value()[i].integer() == 1);
    }
  } catch (const NoGroup&) {
    // Another program has deleted the stream, and with it all holds.
    answers.insert(answers.end(), holds, false);
  }
}

std::vector<std::optional<Hold>> RedisTransport::keep_alive(std::span<const Hold> holds) {
  std::vector<std::optional<Hold>> kept(holds.size());
  const std::vector<Hold> possible = those_that_can_be_held(holds);
  std::vector<bool> answers;
  in_parts(std::span<const Hold>{possible}, kMost, add_hold,
           [&](const Command& arguments, std::span<const Hold> part) {
             ask_of_holds(stream_scripts().keep_alive, of_group(), arguments, part.size(), answers);
           });
  auto answer = answers.begin();
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (can_be_held(holds[i]) && *answer++) kept[i] = holds[i];
  }
  return kept;
}

void RedisTransport::release(std::span<const Hold> holds) {
  const std::vector<Hold> possible = those_that_can_be_held(holds);
  if (possible.empty()) return;
  std::vector<bool> released;
  in_parts(std::span<const Hold>{possible}, kMost, add_hold,
           [&](const Command& arguments, std::span<const Hold> part) {
             ask_of_holds(stream_scripts().release, of_group().add(too_long()), arguments,
                          part.size(), released);
           });
  {
    const std::lock_guard lock{mutex_};
    looked_for_lost_at_.reset();  // where it stays in its place, it is found there
  }
  waker_.tell();
}

bool RedisTransport::is_same_queue(const Transport& other) const {
  const RedisTransport* transport = on_same_server(&other);
  return transport != nullptr && transport->settings_.stream == settings_.stream;
}

const RedisTransport* RedisTransport::on_same_server(const Transport* other) const {
  const auto* transport = dynamic_cast<const RedisTransport*>(other);
  if (transport == nullptr) return nullptr;
  return transport->settings_.connection == settings_.connection ? transport : nullptr;
}

void RedisTransport::add_forward(Command& arguments, const Outgoing& message) const {
  arguments.add(settings_.stream);
  if (message.delay.count() > 0) {
    arguments.add(due_after(message.delay))
        .add(settings_.stream_max_entries)
        .add(write_message(message.message, TaskId::generate().to_string()));
  } else {
    arguments.add("").add(settings_.stream_max_entries).add(write_message(message.message));
  }
}

std::string RedisTransport::kept_from() {
  if (settings_.remove_after.count() == 0) return "";
  const std::lock_guard lock{mutex_};
  const Timestamp at = clock_.now();
  if (removed_kept_at_ && at < *removed_kept_at_ + kBetweenRemovals) return "";
  removed_kept_at_ = at;
  return std::to_string((now() - settings_.remove_after).time_since_epoch().count());
}

std::vector<MessageSettleStatus> RedisTransport::settle_here(
    std::span<const MessageSettlement> settlements) {
  std::vector<bool> answers;
  const std::string kept_from_id = kept_from();
  in_parts(
      settlements, kMost,
      [&](Command& arguments, const MessageSettlement& settlement) {
        add_hold(arguments, settlement.hold);
        if (settlement.forward) {
          on_same_server(settlement.forward->to)
              ->add_forward(arguments, settlement.forward->message);
        } else {
          arguments.add("");
        }
      },
      [&](const Command& arguments, std::span<const MessageSettlement> part) {
        const auto [first, last] = std::ranges::minmax(
            part, {}, [](const MessageSettlement& one) { return *parse_stream_id(one.hold.id); });
        Command before = of_group();
        before.add(settings_.delete_after_ack ? "1" : "0")
            .add(settings_.delete_after_reject ? "1" : "0")
            .add(settings_.remove_after.count() > 0 ? settings_.kept_stream() : "")
            .add(kept_from_id)
            .add(first.hold.id)
            .add(last.hold.id)
            .add(consumer_);
        ask_of_holds(stream_scripts().settle, before, arguments, part.size(), answers);
      });
  const bool retries = std::ranges::any_of(settlements, [&](const MessageSettlement& settlement) {
    return settlement.forward && settlement.forward->to == this;
  });
  if (retries) waker_.tell();
  std::vector<MessageSettleStatus> statuses;
  for (const bool settled : answers) {
    statuses.push_back(settled ? MessageSettleStatus::settled : MessageSettleStatus::lost);
  }
  return statuses;
}

std::vector<MessageSettleStatus> RedisTransport::settle(
    std::span<const MessageSettlement> settlements) {
  std::vector<MessageSettlement> possible;
  std::ranges::copy_if(settlements, std::back_inserter(possible),
                       [](const MessageSettlement& one) { return can_be_held(one.hold); });
  const std::vector<MessageSettleStatus> found = detail::settle_here_and_elsewhere(
      *this, possible,
      [this](const MessageSettlement& one) {
        return !one.forward || on_same_server(one.forward->to) != nullptr;
      },
      [this](std::span<const MessageSettlement> here) { return settle_here(here); });
  std::vector<MessageSettleStatus> statuses(settlements.size(), MessageSettleStatus::lost);
  auto next = found.begin();
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    if (can_be_held(settlements[i].hold)) statuses[i] = *next++;
  }
  return statuses;
}

// --- for operators
// --------------------------------------------------------------------------------

TransportStats RedisTransport::stats() {
  const Timestamp exactly = clock_.now();
  const Reply reply = server_.read([&](Connection& connection) {
    return run_script(connection, stream_scripts().stats,
                      of_group()
                          .add(std::int64_t{now().time_since_epoch().count()})
                          .add(std::int64_t{redeliver_timeout().count()}));
  });
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

StoredMessage RedisTransport::read_stored(const Value& row) const {
  StoredMessage stored{.id = std::string{row[0].text()}};
  if (row.size() > 3) {
    stored.message = read_message(row[1].text());
    stored.available_at = Timestamp{milliseconds{row[3].integer()}};
    stored.created_at = stored.available_at - delay_in(stored.message.headers);
    return stored;
  }
  stored.message = message_in(row[1]);
  stored.created_at = time_in(stored.id);
  stored.available_at = stored.created_at;
  if (!row[2].is_nil()) stored.delivered_at = clock_.now() - milliseconds{row[2].integer()};
  return stored;
}

std::vector<StoredMessage> RedisTransport::list(std::size_t limit, std::size_t offset) {
  const Reply reply = server_.read([&](Connection& connection) {
    return run_script(
        connection, stream_scripts().list,
        of_group().add(static_cast<std::int64_t>(limit)).add(static_cast<std::int64_t>(offset)));
  });
  std::vector<StoredMessage> messages;
  for (std::size_t i = 0; i < reply.value().size(); ++i) {
    messages.push_back(read_stored(reply.value()[i]));
  }
  return messages;
}

template <class Look>
void RedisTransport::scan_delayed(const Command& ids, bool removes, Look&& look) {
  std::string cursor = "0";
  bool done = false;
  do {
    const auto run = [&](Connection& connection) {
      return run_script(connection, stream_scripts().scan_delayed,
                        of_group().add(cursor).add(kScanned).add(removes ? "1" : "0"), ids);
    };
    const Reply reply = removes ? server_.write(run) : server_.read(run);
    cursor = reply.value()[0].text();
    for (std::size_t i = 1; i < reply.value().size() && !done; ++i) done = look(reply.value()[i]);
  } while (cursor != "0" && !done);
}

std::optional<std::string> RedisTransport::delayed_member(const std::string& id) {
  std::optional<std::string> member;
  Command ids;
  ids.add(id);
  scan_delayed(ids, false, [&](const Value& row) {
    member = row[1].text();
    return true;
  });
  return member;
}

std::optional<StoredMessage> RedisTransport::find(const std::string& id) {
  std::optional<StoredMessage> found;
  if (parse_stream_id(id)) {
    const Reply reply = server_.read([&](Connection& connection) {
      return run_script(connection, stream_scripts().find, of_group().add(id));
    });
    if (reply.value().size() > 0) found = read_stored(reply.value());
    return found;
  }
  Command ids;
  ids.add(id);
  scan_delayed(ids, false, [&](const Value& row) {
    found = read_stored(row);
    return true;
  });
  return found;
}

std::size_t RedisTransport::remove(std::span<const std::string> ids) {
  std::vector<std::string> in_stream;
  std::vector<std::string> delayed;
  for (const std::string& id : ids) (parse_stream_id(id) ? in_stream : delayed).push_back(id);
  std::size_t count = 0;
  const auto add_id = [](Command& arguments, const std::string& id) { arguments.add(id); };
  in_parts(std::span<const std::string>{in_stream}, kMost, add_id, [&](const Command& arguments) {
    const Reply reply = server_.write([&](Connection& connection) {
      return run_script(connection, stream_scripts().remove, of_group().add(too_long()), arguments);
    });
    count += static_cast<std::size_t>(reply.value().integer());
  });
  in_parts(std::span<const std::string>{delayed}, kMost, add_id, [&](const Command& arguments) {
    scan_delayed(arguments, true, [&](const Value&) {
      ++count;
      return false;
    });
  });
  return count;
}

MoveStatus RedisTransport::move(const std::string& id, const MessageSettlement::Forward& forward) {
  const RedisTransport* to = on_same_server(forward.to);
  if (to == nullptr) return detail::move_elsewhere(*this, id, forward, clock_.now());
  const bool in_stream = parse_stream_id(id).has_value();
  const std::optional<std::string> member = in_stream ? std::string{} : delayed_member(id);
  if (!member) return MoveStatus::left_alone;
  Command arguments = of_group();
  arguments.add(too_long()).add(in_stream ? id : "").add(*member);
  to->add_forward(arguments, forward.message);
  const Reply reply = server_.write([&](Connection& connection) {
    return run_script(connection, stream_scripts().move, arguments);
  });
  if (reply.value().integer() != 1) return MoveStatus::left_alone;
  if (to == this) waker_.tell();
  return MoveStatus::moved;
}

std::size_t RedisTransport::purge() {
  const Reply reply = server_.write([&](Connection& connection) {
    return run_script(connection, stream_scripts().purge, of_group());
  });
  return static_cast<std::size_t>(reply.value().integer());
}

}  // namespace redis

std::unique_ptr<Transport> open_redis_transport(const Dsn& dsn, const TransportOptions& options) {
  return std::make_unique<redis::RedisTransport>(dsn, options);
}

}  // namespace errand
