#pragma once

#include <cstdint>
#include <string>

namespace errand::http {

struct ListenAddress {
  std::string host = "127.0.0.1";  ///< an address, without brackets
  std::uint16_t port = 8080;       ///< 0: one that is free

  /// `127.0.0.1:8080`, `[::1]:8080`, `0.0.0.0:8080`, `localhost:8080`, or a port of the loopback
  /// address alone. Throws ConfigurationException.
  [[nodiscard]] static ListenAddress parse(const std::string& text);

  /// Whether only this machine can reach it.
  [[nodiscard]] bool is_loopback() const;

  /// `host:port`, in brackets where needed.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace errand::http
