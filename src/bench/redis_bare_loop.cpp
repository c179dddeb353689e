#include "bench/redis_bare_loop.hpp"

#include <algorithm>
#include <hiredis/hiredis.h>
#include <string>
#include <string_view>
#include <utility>

#include "errand/errors.hpp"
#include "errand/task_id.hpp"

#include "engine/redis/command.hpp"
#include "engine/redis/database.hpp"
#include "engine/redis/entry.hpp"
#include "engine/redis/scripts.hpp"
#include "engine/redis/settings.hpp"

namespace errand::bench {
namespace {

using redis::Command;
using redis::Script;

struct Free {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, Free>;

[[noreturn]] void fail(const std::string& reason) {
  throw StorageException{"bare loop: " + reason, StorageException::Retry::useless};
}

class RedisBareLoop final : public BareLoop {
 public:
  RedisBareLoop(const redis::DatabaseSettings& settings, std::string queue)
      : queue_{std::move(queue)} {
    const redis::ConnectionSettings& server = settings.connection;
    context_.reset(server.socket.empty() ? redisConnect(server.host.c_str(), server.port)
                                         : redisConnectUnix(server.socket.c_str()));
    if (!context_ || context_->err != 0) fail("cannot connect");
    if (!server.password.empty()) {
      Command auth{"AUTH"};
      if (!server.user.empty()) auth.add(server.user);
      run(auth.add(server.password));
    }
    run(Command{"SELECT"}.add(server.database));
    for (const Script* script :
         {&redis::scripts().submit, &redis::scripts().claim, &redis::scripts().settle}) {
      run(Command{"SCRIPT"}.add("LOAD").add(script->source()));
    }
    common_ = redis::common_arguments(settings, "bare loop ", redis::channels_of(settings));
  }

  void submit(std::size_t count, std::size_t batch, const std::string& payload) override {
    // One more than the server works on, so that it never waits; but each task by itself is durable
    // before the next one is made.
    const std::size_t ahead = batch > 1 ? 2 : 1;
    std::size_t under_way = 0;
    const std::string common = redis::pack({queue_, "errand.echo", "0", "0", "3", "", ""});
    for (std::size_t done = 0; done < count; done += batch) {
      Command arguments;
      for (std::size_t i = 0; i < std::min(batch, count - done); ++i) {
        arguments.add(TaskId::generate()).add(payload).add(common);
      }
      send(redis::scripts().submit, arguments);
      if (++under_way == ahead) {
        receive();
        --under_way;
      }
    }
    for (; under_way > 0; --under_way) receive();
  }

  std::size_t drain(std::size_t batch, FirstTime& first_claimed) override {
    Command claim;
    claim.add(static_cast<std::int64_t>(batch))
        .add("0")
        .add("15000")
        .add("bare loop")
        .add("-1")
        .add(queue_);
    std::size_t done = 0;
    std::size_t settling = 0;
    send(redis::scripts().claim, claim);
    while (true) {
      const Reply reply = receive();
      for (; settling > 0; --settling) receive();
      const redisReply& claims = *reply->element[0];
      if (claims.elements == 0) return done;
      first_claimed.note();
      // The server claims the next ones while these are looked at.
      send(redis::scripts().claim, claim);
      send(redis::scripts().settle, settlements(claims));
      settling = 1;
      done += claims.elements / kValuesOfAClaim;
    }
  }

 private:
  /// Of claim.lua: id, entry, and payload or bundle.
  static constexpr std::size_t kValuesOfAClaim = 3;

  static Command settlements(const redisReply& claims) {
    Command settle;
    for (std::size_t i = 0; i < claims.elements; i += kValuesOfAClaim) {
      const redis::Entry entry{text(claims.element[i + 1])};
      const redisReply* more = claims.element[i + 2];
      const bool bundled = more->type == REDIS_REPLY_INTEGER;
      const std::int64_t version = entry.integer(redis::Entry::Field::version) + (bundled ? 1 : 0);
      settle.add(text(claims.element[i]))
          .add(more->str == nullptr ? entry.text(redis::Entry::Field::payload) : text(more))
          .add(redis::pack({std::to_string(version), "completed",
                            bundled ? std::to_string(more->integer) : "", "0"}));
    }
    return settle;
  }

  static std::string_view text(const redisReply* reply) {
    return {reply->str, static_cast<std::size_t>(reply->len)};
  }

  void send(const Script& script, const Command& arguments) {
    Command command{"EVALSHA"};
    send(command.add(script.digest()).add("0").add(common_).add(arguments));
  }

  void send(const Command& command) {
    const std::string wire = command.wire();
    if (redisAppendFormattedCommand(context_.get(), wire.data(), wire.size()) != REDIS_OK) {
      fail(context_->errstr);
    }
    int done = 0;
    while (done == 0) {
      if (redisBufferWrite(context_.get(), &done) != REDIS_OK) fail(context_->errstr);
    }
  }

  Reply receive() {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK) fail(context_->errstr);
    Reply reply{static_cast<redisReply*>(raw)};
    if (reply->type == REDIS_REPLY_ERROR) fail(reply->str);
    return reply;
  }

  void run(const Command& command) {
    send(command);
    receive();
  }

  std::unique_ptr<redisContext, Free> context_;
  std::string queue_;
  Command common_;
};

}  // namespace

std::unique_ptr<BareLoop> make_redis_bare_loop(const Dsn& dsn, const std::string& queue) {
  const redis::DatabaseSettings settings = redis::settings_of(dsn);
  if (settings.connection.tls) {
    throw ConfigurationException{dsn.to_string() +
                                 ": the bare loop speaks no TLS; measure by redis://"};
  }
  return std::make_unique<RedisBareLoop>(settings, queue);
}

}  // namespace errand::bench
