#pragma once

#include <cstdlib>
#include <fstream>
#include <hiredis/hiredis.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace errand::testing {

/// The tests' Redis, in the directory $ERRAND_TEST_SERVERS-redis; see tests/servers/redis.
struct RedisServer {
  static std::string directory() {
    const char* servers = std::getenv("ERRAND_TEST_SERVERS");
    if (servers == nullptr) throw std::runtime_error{"ERRAND_TEST_SERVERS names no servers"};
    return std::string{servers} + "-redis";
  }
  static std::string socket() { return directory() + "/redis.sock"; }

  /// Each ends with an option, so that more can follow.
  static std::string socket_dsn() { return "redis+unix://" + socket() + "?database=0"; }
  static std::string tcp_dsn() {
    return "redis://127.0.0.1:" + number_in("port") + "/0?connections=10";
  }
  static std::string tls_dsn() {
    return "rediss://localhost:" + number_in("tls-port") + "/0?ca=" + directory() + "/ca.crt";
  }

  static std::string number_in(const std::string& file) {
    std::ifstream in{directory() + "/" + file};
    std::string number;
    if (!(in >> number)) throw std::runtime_error{"the server has no file " + file};
    return number;
  }
};

/// A plain client, as any other program has one.
class RedisClient {
 public:
  explicit RedisClient(const std::string& socket = RedisServer::socket())
      : context_{redisConnectUnix(socket.c_str())} {
    if (!context_ || context_->err != 0) throw std::runtime_error{"cannot reach " + socket};
  }

  struct FreeReply {
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;

  Reply run(const std::vector<std::string>& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    Reply reply{static_cast<redisReply*>(redisCommandArgv(
        context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()))};
    if (!reply) throw std::runtime_error{std::string{"Redis: "} + context_->errstr};
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error{reply->str};
    return reply;
  }

  std::int64_t number(const std::vector<std::string>& words) { return run(words)->integer; }
  std::optional<std::string> text(const std::vector<std::string>& words) {
    const Reply reply = run(words);
    if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
    return std::string{reply->str, static_cast<std::size_t>(reply->len)};
  }

  /// `pattern` as SCAN takes it.
  std::vector<std::string> keys(const std::string& pattern) {
    std::vector<std::string> found;
    std::string cursor = "0";
    do {
      const Reply page = run({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"});
      cursor = page->element[0]->str;
      const redisReply& names = *page->element[1];
      for (std::size_t i = 0; i < names.elements; ++i) {
        found.emplace_back(names.element[i]->str, static_cast<std::size_t>(names.element[i]->len));
      }
    } while (cursor != "0");
    return found;
  }

  void remove(const std::string& pattern) {
    for (const std::string& key : keys(pattern)) run({"UNLINK", key});
  }

 private:
  struct FreeContext {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
  };
  std::unique_ptr<redisContext, FreeContext> context_;
};

}  // namespace errand::testing
