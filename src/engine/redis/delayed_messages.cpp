#include "engine/redis/delayed_messages.hpp"

#include <cstdint>

#include "engine/redis/in_parts.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

/// Of delayed messages that one call looks at.
constexpr std::int64_t kScanned = 1000;

}  // namespace

std::optional<Timestamp> DelayedMessages::next_due(Timestamp now) {
  const Reply reply = group_.server().read([&](Connection& connection) {
    const std::int64_t at = std::chrono::floor<milliseconds>(now).time_since_epoch().count();
    return connection.run(Command{"ZRANGEBYSCORE"}
                              .add(key_)
                              .add("(" + std::to_string(at))
                              .add("+inf")
                              .add("WITHSCORES")
                              .add("LIMIT")
                              .add("0")
                              .add("1"));
  });
  if (reply.value().size() < 2) return std::nullopt;
  return Timestamp{milliseconds{reply.value()[1].integer()}};
}

void DelayedMessages::scan(const Command& ids, bool removes,
                           const std::function<bool(const Value& row)>& look) {
  std::string cursor = "0";
  bool done = false;
  do {
    Command part;
    part.add(cursor).add(kScanned).add(removes ? "1" : "0");
    const Script& script = stream_scripts().scan_delayed;
    const Reply reply = removes ? group_.write(script, part, ids) : group_.read(script, part, ids);
    cursor = reply.value()[0].text();
    for (std::size_t i = 1; i < reply.value().size() && !done; ++i) done = look(reply.value()[i]);
  } while (cursor != "0" && !done);
}

void DelayedMessages::find(const std::string& id,
                           const std::function<void(const Value& row)>& look) {
  Command ids;
  ids.add(id);
  scan(ids, false, [&](const Value& row) {
    look(row);
    return true;
  });
}

std::optional<std::string> DelayedMessages::member(const std::string& id) {
  std::optional<std::string> member;
  find(id, [&](const Value& row) { member = row[1].text(); });
  return member;
}

std::size_t DelayedMessages::remove(std::span<const std::string> ids) {
  std::size_t count = 0;
  const auto add_id = [](Command& arguments, const std::string& id) { arguments.add(id); };
  in_parts(ids, StreamGroup::kMost, add_id, [&](const Command& arguments) {
    scan(arguments, true, [&](const Value&) {
      ++count;
      return false;
    });
  });
  return count;
}

}  // namespace errand::redis
