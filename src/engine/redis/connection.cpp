#include "engine/redis/connection.hpp"

#include <array>
#include <new>
#include <string_view>

#include "engine/redis/server_rules.hpp"

namespace errand::redis {
namespace {

using Retry = StorageException::Retry;

struct Meaning {
  std::string_view code;  ///< the first word of an error
  Retry retry;
  std::string_view next_step;
};

constexpr std::array kMeanings{
    Meaning{"LOADING", Retry::helps, ""},
    Meaning{"BUSY", Retry::helps, "; a script of another program runs for long"},
    Meaning{"TRYAGAIN", Retry::helps, ""},
    Meaning{"MASTERDOWN", Retry::helps, ""},
    Meaning{"OOM", Retry::helps, "; give the server more memory (maxmemory), or clean up"},
    Meaning{"MISCONF", Retry::helps, "; the server cannot write to its disk: see its log"},
    Meaning{"NOREPLICAS", Retry::helps, "; min-replicas-to-write asks for replicas"},
    Meaning{"READONLY", Retry::helps, "; this server is a replica: connect to the primary"},
    Meaning{"NOAUTH", Retry::useless, "; give user and password: redis://user:password@host"},
    Meaning{"WRONGPASS", Retry::useless, ""},
    Meaning{"NOPERM", Retry::useless, "; docs/operations.md has the ACL that Errand needs"},
};

std::string one_line(std::string_view text) {
  std::string line{text};
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

/// The first word; before Redis 7, of what a script ran into: "ERR Error running script (call to
/// f_…):
/// @user_script: 4: -OOM command not allowed".
std::string_view code_of(std::string_view text) {
  constexpr std::string_view kInScript = ": -";
  if (text.starts_with("ERR Error running script")) {
    if (const auto at = text.find(kInScript); at != std::string_view::npos) {
      text.remove_prefix(at + kInScript.size());
    }
  }
  return text.substr(0, text.find(' '));
}

}  // namespace

void check(const Value& reply) {
  if (!reply.is_error()) return;
  const std::string_view text = reply.text();
  const std::string_view code = code_of(text);
  if (code == "NOSCRIPT") throw UnknownScript{};
  if (code == "LOCKED") throw Locked{one_line(text.substr(std::min(text.size(), code.size() + 1)))};
  if (code == "NOGROUP") throw NoGroup{"Redis: " + one_line(text), Retry::useless};
  for (const Meaning& meaning : kMeanings) {
    if (meaning.code == code) {
      throw StorageException{"Redis: " + one_line(text) + std::string{meaning.next_step},
                             meaning.retry};
    }
  }
  throw StorageException{"Redis: " + one_line(text), Retry::useless};
}

Connection::Connection(const ConnectionSettings& settings)
    : settings_{settings}, reader_{redisReaderCreate()} {
  if (!reader_) throw std::bad_alloc{};
  try {
    socket_ = connect(settings_);
    log_in();
  } catch (const SocketError& error) {
    throw StorageException{std::string{"cannot connect to Redis: "} + error.what(),
                           error.retry_helps() ? Retry::helps : Retry::useless};
  } catch (const StorageException& error) {
    // Nothing but questions was sent.
    throw StorageException{std::string{"cannot use this server: "} + error.what(),
                           error.retry() == Retry::useless ? Retry::useless : Retry::helps};
  }
}

void Connection::log_in() {
  std::vector<Command> commands;
  if (!settings_.password.empty()) {
    Command auth{"AUTH"};
    if (!settings_.user.empty()) auth.add(settings_.user);
    commands.push_back(std::move(auth.add(settings_.password)));
  }
  if (settings_.database != 0)
    commands.push_back(std::move(Command{"SELECT"}.add(settings_.database)));
  if (!commands.empty()) {
    for (const Reply& reply : run(commands)) check(reply.value());
  }
  require_supported_server(*this);
  if (settings_.durable) require_durable_server(*this);
}

std::vector<Reply> Connection::run(std::span<const Command> commands) {
  std::string wire;
  for (const Command& command : commands) wire += command.wire();
  write(wire, Retry::in_doubt);
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  while (replies.size() < commands.size()) replies.push_back(await_reply());
  return replies;
}

Reply Connection::run(const Command& command) {
  send(command);
  Reply reply = await_reply();
  // After a failover this server is not the one to talk to; a new connection may reach the right
  // one.
  if (reply.value().is_error() && reply.value().text().find("READONLY") != std::string_view::npos) {
    broken_ = true;
  }
  check(reply.value());
  return reply;
}

// A command of which a part is missing is not run.
void Connection::send(const Command& command) {
  // A second system call costs less than a copy of much.
  constexpr std::size_t kMuch = std::size_t{64} * 1024;
  if (command.bytes() < kMuch) return write(command.wire(), Retry::helps);
  write(command.head(), Retry::helps);
  write(command.arguments(), Retry::helps);
}

void Connection::write(const std::string& wire, Retry retry) {
  try {
    socket_->write(wire, settings_.reply_timeout);
  } catch (const SocketError& error) {
    broken_ = true;
    throw StorageException{std::string{"the connection to Redis broke: "} + error.what(), retry};
  }
}

std::optional<Reply> Connection::receive(std::chrono::milliseconds timeout) {
  while (true) {
    if (std::optional<Reply> reply = parse()) return reply;
    std::string_view bytes;
    try {
      bytes = socket_->read(timeout);
    } catch (const SocketError& error) {
      broken_ = true;
      throw StorageException{std::string{"the connection to Redis broke: "} + error.what(),
                             Retry::in_doubt};
    }
    if (bytes.empty()) return std::nullopt;
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
      broken_ = true;
      throw std::bad_alloc{};
    }
  }
}

std::optional<Reply> Connection::parse() {
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    broken_ = true;
    throw StorageException{"what came is not a reply of Redis: " + one_line(reader_->errstr),
                           Retry::in_doubt};
  }
  if (reply == nullptr) return std::nullopt;
  return Reply{static_cast<redisReply*>(reply)};
}

Reply Connection::await_reply() {
  if (std::optional<Reply> reply = receive(settings_.reply_timeout)) return *std::move(reply);
  broken_ = true;
  throw StorageException{
      "Redis did not answer for " + std::to_string(settings_.reply_timeout.count() / 1000) + " s",
      Retry::in_doubt};
}

}  // namespace errand::redis
