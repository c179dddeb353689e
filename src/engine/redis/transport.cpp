#include "engine/redis/transport.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>
#include <utility>

#include "errand/errors.hpp"
#include "errand/redis.hpp"
#include "errand/task_id.hpp"

#include "bus/messenger_table.hpp"
#include "engine/redis/stream_bytes.hpp"

namespace errand {
namespace redis {
namespace {

using std::chrono::milliseconds;

std::string process_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const std::string id = TaskId::generate().to_string();
  return std::string{host.data()} + "." + std::to_string(getpid()) + "." +
         id.substr(id.size() - 12);
}

}  // namespace

RedisTransport::RedisTransport(const Dsn& dsn, const TransportOptions& options)
    : settings_{stream_settings(dsn)},
      name_{options.name.empty() ? settings_.stream : options.name},
      consumers_{settings_.consumer + "."},
      consumer_{consumers_ + process_name()},
      clock_{*options.clock},
      may_create_{detail::may_set_up(options, settings_.auto_setup)},
      group_{settings_},
      delayed_{group_, settings_.stream},
      waker_{settings_.connection, settings_.stream, *options.logger} {
  if (group_.exists()) return;
  if (may_create_) {
    group_.create();
    return;
  }
  throw StorageException{dsn.to_string() + " has no stream " + settings_.stream + " with a group " +
                             settings_.group + " yet; create it with `errand transport setup`",
                         StorageException::Retry::useless};
}

RedisTransport::~RedisTransport() {
  if (!is_in_group_) return;
  try {
    group_.write(stream_scripts().leave, Command{consumer_});
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

void RedisTransport::send(std::span<const Outgoing> messages) {
  if (messages.empty()) return;
  std::vector<Command> commands;
  commands.reserve(messages.size() + 2);
  commands.emplace_back("MULTI");
  for (const Outgoing& outgoing : messages) {
    detail::check_outgoing(outgoing);
    if (outgoing.delay.count() > 0) {
      commands.push_back(
          std::move(Command{"ZADD"}
                        .add(delayed_.key())
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
      group_.server().write([&](Connection& connection) { return connection.run(commands); });
  for (const Reply& reply : replies) check(reply.value());
  const Value added = replies.back().value();
  for (std::size_t i = 0; i < added.size(); ++i) check(added[i]);
  waker_.tell();
}

}  // namespace redis

std::unique_ptr<Transport> open_redis_transport(const Dsn& dsn, const TransportOptions& options) {
  return std::make_unique<redis::RedisTransport>(dsn, options);
}

}  // namespace errand
