#include "engine/redis/server_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace errand::redis {
namespace {

using Retry = StorageException::Retry;

/// "7.0.15" as 700; what is no version as 0.
int version_number(std::string_view text) {
  int major = 0;
  int minor = 0;
  const char* end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, major);
  if (error != std::errc{} || dot == end || *dot != '.') return 0;
  std::from_chars(dot + 1, end, minor);
  return major * 100 + minor;
}

}  // namespace

ServerInfo server_info(Connection& connection) {
  const Reply reply = connection.run(Command{"INFO"});
  ServerInfo info;
  std::string_view text = reply.value().text();
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    info.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return info;
}

std::string info_text(const ServerInfo& info, std::string_view name) {
  const auto found = info.find(name);
  return found == info.end() ? std::string{} : found->second;
}

std::optional<std::string> server_setting(Connection& connection, const std::string& name) {
  const std::vector<Command> commands{std::move(Command{"CONFIG"}.add("GET").add(name))};
  const std::vector<Reply> replies = connection.run(commands);
  const Value reply = replies.front().value();
  if (reply.is_error() || reply.size() < 2) return std::nullopt;
  return reply[1].optional_text();
}

bool is_supported_version(std::string_view version) {
  return version_number(version) >= version_number(kOldestVersion);
}

void require_supported_server(Connection& connection) {
  const ServerInfo info = server_info(connection);
  const std::string version = info_text(info, "redis_version");
  if (!is_supported_version(version)) {
    throw StorageException{
        "it is Redis " + version + ", and Errand needs " + kOldestVersion + " or newer",
        Retry::useless};
  }
  const std::string mode = info_text(info, "redis_mode");
  if (mode == "cluster") {
    throw StorageException{
        "it is part of a Redis cluster, where a task and its queue may be on different servers and "
        "cannot be changed together; use a server of its own (cluster-enabled no), with replicas "
        "if need be",
        Retry::useless};
  }
  if (mode == "sentinel") {
    throw StorageException{"it is a sentinel, which keeps no data; name the primary",
                           Retry::useless};
  }
}

LossOfWrites loss_of_writes(Connection& connection) {
  struct Rule {
    const char* setting;
    const char* wanted;
    const char* danger;
  };
  constexpr std::array kRules{
      Rule{"appendonly", "yes", "nothing is kept between snapshots"},
      Rule{"appendfsync", "always", "the last moments before a crash of the machine are lost"},
      Rule{"no-appendfsync-on-rewrite", "no", "writes during a rewrite of the log may be lost"},
      Rule{"maxmemory-policy", "noeviction", "what no longer fits into memory is thrown away"},
  };
  LossOfWrites loss;
  const auto add = [](std::string& list, const char* separator, const std::string& item) {
    list += (list.empty() ? "" : separator) + item;
  };
  bool told = true;
  for (const Rule& rule : kRules) {
    const std::optional<std::string> found = server_setting(connection, rule.setting);
    const std::string setting = rule.setting;
    if (!found) {
      told = false;
      add(loss.ways, "; ", "whether " + setting + " is " + rule.wanted + " cannot be seen");
    } else if (*found != rule.wanted) {
      add(loss.ways, "; ", setting + " is " + *found + ": " + rule.danger);
      add(loss.remedy, ", ", "set " + setting + " to " + rule.wanted);
    }
  }
  if (!told) add(loss.remedy, ", ", "allow this user to ask (CONFIG GET)");
  return loss;
}

void require_durable_server(Connection& connection) {
  const LossOfWrites loss = loss_of_writes(connection);
  if (loss.ways.empty()) return;
  throw StorageException{
      "durable=1 asks for a server that loses nothing it has acknowledged, and " + loss.ways +
          "; " + loss.remedy,
      Retry::useless};
}

}  // namespace errand::redis
