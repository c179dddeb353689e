#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "errand/errors.hpp"

#include "engine/redis/command.hpp"
#include "engine/redis/reply.hpp"
#include "engine/redis/settings.hpp"
#include "engine/redis/socket.hpp"

namespace errand::redis {

/// The server does not know a script by this digest: it was started anew, or told to forget.
class UnknownScript : public StorageException {
 public:
  UnknownScript()
      : StorageException{"Redis has forgotten a script", StorageException::Retry::helps} {}
};

/// There is no such stream, or it has no such group.
class NoGroup : public StorageException {
 public:
  using StorageException::StorageException;
};

/// Another program holds `task:<id>:lock`. Nothing was changed.
class Locked : public StorageException {
 public:
  explicit Locked(const std::string& id)
      : StorageException{
            "task " + id + " is locked by another program (the key task:" + id + ":lock)",
            StorageException::Retry::helps} {}
};

/// One connection to the server. Used by one thread at a time.
class Connection {
 public:
  /// Connects, and makes sure that the server is one that serves. Throws StorageException.
  explicit Connection(const ConnectionSettings& settings);

  /// Runs the commands in one round trip; not as one transaction. A reply for each, errors among
  /// them: see check().
  ///
  /// Throws StorageException: in_doubt if the connection broke after they were sent. A broken
  /// connection is of no more use.
  std::vector<Reply> run(std::span<const Command> commands);

  /// Throws what an error reply means; nothing has happened then.
  Reply run(const Command& command);

  /// For a subscriber, who is told things he did not ask for: what came, if anything did in that
  /// time.
  [[nodiscard]] std::optional<Reply> receive(std::chrono::milliseconds timeout);
  void send(const Command& command);

  /// Ends a receive() under way, or the next one. Thread-safe.
  void wake() noexcept { socket_->wake(); }

  /// Ends a receive() under way, and all that follow. Thread-safe.
  void interrupt() noexcept { socket_->interrupt(); }

  [[nodiscard]] bool is_usable() const noexcept { return !broken_; }
  /// False: the server has closed it while nobody looked.
  [[nodiscard]] bool is_alive() noexcept { return !broken_ && socket_->is_quiet(); }

 private:
  struct FreeReader {
    void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
  };

  void log_in();
  /// `retry`: what it means if not all could be sent.
  void write(const std::string& wire, StorageException::Retry retry);
  /// nullopt: the bytes so far do not make a reply.
  std::optional<Reply> parse();
  Reply await_reply();

  ConnectionSettings settings_;
  std::unique_ptr<Socket> socket_;
  std::unique_ptr<redisReader, FreeReader> reader_;
  bool broken_ = false;
};

/// Throws what it means if it is an error.
void check(const Value& reply);

}  // namespace errand::redis
