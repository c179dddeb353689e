#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/redis/settings.hpp"

namespace errand::redis {

/// The way to the server is broken, or could not be made.
class SocketError : public std::runtime_error {
 public:
  SocketError(const std::string& message, bool retry_helps)
      : std::runtime_error{message}, retry_helps_{retry_helps} {}
  /// False: a wrong certificate or name, which will be wrong again.
  [[nodiscard]] bool retry_helps() const noexcept { return retry_helps_; }

 private:
  bool retry_helps_;
};

/// Bytes to and from the server: TCP, TLS or a Unix socket. Used by one thread at a time, but for
/// wake() and interrupt().
class Socket {
 public:
  virtual ~Socket() = default;

  /// Returns when all is sent.
  virtual void write(std::string_view bytes, std::chrono::milliseconds timeout) = 0;

  /// What came, valid until the next call; empty: nothing in that time, or interrupted.
  [[nodiscard]] virtual std::string_view read(std::chrono::milliseconds timeout) = 0;

  /// False: there is something to read, if only that the server has closed the connection.
  [[nodiscard]] virtual bool is_quiet() noexcept = 0;

  /// Ends a read() under way, or the next one, as if its time were over. Thread-safe.
  virtual void wake() noexcept = 0;

  /// Ends a read() under way, and all that follow. Thread-safe.
  virtual void interrupt() noexcept = 0;
};

/// Connects, and proves by the certificate that it is the host asked for. Throws SocketError.
[[nodiscard]] std::unique_ptr<Socket> connect(const ConnectionSettings& settings);

}  // namespace errand::redis
