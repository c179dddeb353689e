#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "errand/application.hpp"
#include "errand/logger.hpp"

#include "app/message_configuration.hpp"
#include "http/access.hpp"
#include "http/listen_address.hpp"
#include "http/metrics.hpp"

namespace errand::http {

/// What a client may cost. Whoever exceeds one gets an answer that says so, and is cut off.
struct Limits {
  std::size_t header_bytes = std::size_t{16} << 10;
  std::size_t body_bytes = std::size_t{8} << 20;
  std::size_t connections = 12'000;
  std::size_t calls = 2'000;                 ///< requests that wait for the storage at once
  std::chrono::milliseconds header{10'000};  ///< for a header to come, once it has begun
  std::chrono::milliseconds body{30'000};    ///< for a body to come
  std::chrono::milliseconds answer{30'000};  ///< for an answer, or a part of a stream, to go
  std::chrono::milliseconds idle{75'000};    ///< between requests
};

struct TlsFiles {
  std::string certificate;  ///< PEM, with the chain
  std::string key;
};

struct ServerOptions {
  ListenAddress listen{};
  std::optional<TlsFiles> tls{};
  Limits limits{};
  int storage_threads = 8;                  ///< calls of the storage at once
  std::vector<std::string> worker_types{};  ///< told to the dashboard
  detail::MessageConfiguration messages{};  ///< whose failure transports operators may look into
};

/// The HTTP server. One thread for all connections; calls of the storage run on a few others.
///
/// It listens from construction on and serves while run() runs.
class Server {
 public:
  /// The references must outlive it. Throws ConfigurationException: an address in use or not of
  /// this machine, one that others reach without a token being there, certificate files that
  /// cannot be used.
  Server(Application& app, const Access& access, Metrics& metrics, ServerOptions options,
         Logger& logger);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The port it listens on.
  [[nodiscard]] std::uint16_t port() const noexcept;

  /// `http://127.0.0.1:8080`
  [[nodiscard]] std::string url() const;

  /// Serves until `stop` is requested; then what is under way ends, long polls at once, other
  /// requests within five seconds. Once per object.
  void run(const std::stop_token& stop);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errand::http
