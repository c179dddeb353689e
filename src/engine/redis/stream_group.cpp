#include "engine/redis/stream_group.hpp"

#include <vector>

namespace errand::redis {

bool StreamGroup::exists() {
  const std::vector<Reply> replies = server_.read([&](Connection& connection) {
    const Command ask = Command{"XINFO"}.add("GROUPS").add(stream_);
    return connection.run({&ask, 1});
  });
  const Value groups = replies.front().value();
  if (groups.is_error() && groups.text() == "ERR no such key") return false;
  check(groups);
  bool found = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    found = found || (groups[i][0].text() == "name" && groups[i][1].text() == name_);
  }
  if (deletes_ && groups.size() + (found ? 0 : 1) > 1) {
    throw StorageException{
        "the stream " + stream_ +
            " has another group: messages would be deleted before all groups have read them; use "
            "one group, or delete_after_ack=no&delete_after_reject=no",
        StorageException::Retry::useless};
  }
  return found;
}

void StreamGroup::create() {
  const std::vector<Reply> replies = server_.write([&](Connection& connection) {
    const Command create =
        Command{"XGROUP"}.add("CREATE").add(stream_).add(name_).add("0").add("MKSTREAM");
    return connection.run({&create, 1});
  });
  const Value reply = replies.front().value();
  if (reply.is_error() && reply.text().starts_with("BUSYGROUP")) return;
  check(reply);
}

Reply StreamGroup::write(const Script& script, const Command& arguments, const Command& more) {
  return server_.write([&](Connection& connection) {
    return run_script(connection, script, this->arguments().add(arguments), more);
  });
}

Reply StreamGroup::read(const Script& script, const Command& arguments, const Command& more) {
  return server_.read([&](Connection& connection) {
    return run_script(connection, script, this->arguments().add(arguments), more);
  });
}

Command StreamGroup::arguments() const {
  Command both;
  both.add(stream_).add(name_);
  return both;
}

}  // namespace errand::redis
