#include "engine/redis/socket.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <poll.h>
#include <string>
#include <utility>

#include "core/block_signals.hpp"

namespace errand::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;
using TlsStream = asio::ssl::stream<Tcp::socket>;

template <class Protocol>
asio::basic_stream_socket<Protocol>& socket_of(asio::basic_stream_socket<Protocol>& stream) {
  return stream;
}
Tcp::socket& socket_of(TlsStream& stream) { return stream.next_layer(); }

[[noreturn]] void fail(const std::string& what, const error_code& error) {
  std::string message = what + ": " + error.message();
  if (message.find("verify failed") != std::string::npos) {
    message += "; name the authority that signed the server's certificate with ca=FILE";
  } else if (message.find("certificate required") != std::string::npos) {
    message += "; give ours with cert=FILE and key=FILE";
  }
  // What TLS refuses it will refuse again.
  throw SocketError{message, error.category() != asio::error::get_ssl_category()};
}

/// One connection and the loop its operations run on, so that each of them can have a time limit.
template <class Stream>
class AsioSocket final : public Socket {
 public:
  template <class... Arguments>
  explicit AsioSocket(Arguments&&... arguments)
      : stream_{io_, std::forward<Arguments>(arguments)...} {}

  [[nodiscard]] Stream& stream() noexcept { return stream_; }
  [[nodiscard]] asio::io_context& io() noexcept { return io_; }

  void write(std::string_view bytes, milliseconds timeout) override {
    bool done = false;
    error_code result;
    asio::async_write(stream_, asio::buffer(bytes), [&](const error_code& error, std::size_t) {
      result = error;
      done = true;
    });
    if (!run(done, timeout)) abandon("the server takes nothing");
    if (result) fail("cannot send", result);
  }

  std::string_view read(milliseconds timeout) override {
    // A read that found nothing goes on until the next call.
    if (!reading_) {
      reading_ = true;
      has_read_ = false;
      stream_.async_read_some(asio::buffer(buffer_),
                              [this](const error_code& error, std::size_t count) {
                                read_error_ = error;
                                read_count_ = count;
                                has_read_ = true;
                              });
    }
    if (!run(has_read_, timeout, &woken_)) return {};
    reading_ = false;
    if (read_error_ == asio::error::eof || read_error_ == asio::ssl::error::stream_truncated) {
      throw SocketError{"the server closed the connection", true};
    }
    if (read_error_) fail("cannot receive", read_error_);
    return {buffer_.data(), read_count_};
  }

  bool is_quiet() noexcept override {
    if (reading_) return false;
    pollfd socket{socket_of(stream_).native_handle(), POLLIN, 0};
    return poll(&socket, 1, 0) == 0;
  }

  void wake() noexcept override {
    woken_ = true;
    io_.stop();
  }

  void interrupt() noexcept override {
    interrupted_ = true;
    io_.stop();
  }

  /// Runs the operation that sets `done`; false if it takes longer, or `woken` was set. For
  /// connecting, too.
  bool run(const bool& done, milliseconds timeout, std::atomic<bool>* woken = nullptr) {
    // Years are more than the clock can add.
    const auto until = Steady::now() + std::min<milliseconds>(timeout, std::chrono::days{365});
    while (!done) {
      if (io_.stopped()) io_.restart();
      if (interrupted_ || (woken != nullptr && woken->exchange(false))) return false;
      if (io_.run_one_until(until) == 0 && !done && Steady::now() >= until) return false;
    }
    return true;
  }

  /// An operation that writes into this frame must not outlive it.
  [[noreturn]] void abandon(const std::string& reason) {
    error_code ignored;
    socket_of(stream_).close(ignored);
    io_.restart();
    io_.run();
    throw SocketError{reason, true};
  }

 private:
  static constexpr std::size_t kBufferSize = std::size_t{64} * 1024;

  asio::io_context io_{1};
  Stream stream_;
  std::array<char, kBufferSize> buffer_{};
  bool reading_ = false;
  bool has_read_ = false;
  error_code read_error_;
  std::size_t read_count_ = 0;
  std::atomic<bool> woken_ = false;
  std::atomic<bool> interrupted_ = false;
};

/// Waits for an operation on a socket that is being made.
template <class Stream, class Start>
void complete(AsioSocket<Stream>& socket, milliseconds timeout, const std::string& what,
              Start&& start) {
  bool done = false;
  error_code result;
  start([&](const error_code& error, auto&&...) {
    result = error;
    done = true;
  });
  if (!socket.run(done, timeout)) {
    socket.abandon(what + ": no answer for " + std::to_string(timeout.count() / 1000) + " s");
  }
  if (result) fail(what, result);
}

std::string name_of(const ConnectionSettings& settings) {
  if (!settings.socket.empty()) return settings.socket;
  return settings.host + ":" + std::to_string(settings.port);
}

template <class Stream>
void connect_tcp(AsioSocket<Stream>& socket, const ConnectionSettings& settings) {
  Tcp::resolver resolver{socket.io()};
  Tcp::resolver::results_type addresses;
  complete(socket, settings.connect_timeout, settings.host, [&](auto handler) {
    const detail::BlockSignals inherited;  // by Asio's thread that resolves names
    resolver.async_resolve(settings.host, std::to_string(settings.port),
                           [&addresses, handler](const error_code& error, auto results) {
                             addresses = std::move(results);
                             handler(error);
                           });
  });
  Tcp::socket& tcp = socket_of(socket.stream());
  complete(socket, settings.connect_timeout, name_of(settings),
           [&](auto handler) { asio::async_connect(tcp, addresses, handler); });
  error_code ignored;  // an unusual network that knows neither works all the same
  tcp.set_option(Tcp::no_delay{true}, ignored);
  tcp.set_option(asio::socket_base::keep_alive{true}, ignored);
}

asio::ssl::context tls_context(const ConnectionSettings& settings) {
  asio::ssl::context context{asio::ssl::context::tls_client};
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
  const auto load = [](const std::string& file, const error_code& error) {
    if (error) throw SocketError{"cannot use " + file + ": " + error.message(), false};
  };
  error_code error;
  if (settings.ca.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(settings.ca, error);
  }
  load(settings.ca, error);
  if (!settings.cert.empty()) {
    context.use_certificate_chain_file(settings.cert, error);
    load(settings.cert, error);
    context.use_private_key_file(settings.key, asio::ssl::context::pem, error);
    load(settings.key, error);
  }
  return context;
}

std::unique_ptr<Socket> connect_tls(const ConnectionSettings& settings) {
  asio::ssl::context context = tls_context(settings);
  auto socket = std::make_unique<AsioSocket<TlsStream>>(context);
  connect_tcp(*socket, settings);
  TlsStream& stream = socket->stream();
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.set_verify_callback(asio::ssl::host_name_verification{settings.host});
  SSL_set_tlsext_host_name(stream.native_handle(), settings.host.c_str());
  complete(*socket, settings.connect_timeout, name_of(settings),
           [&](auto handler) { stream.async_handshake(asio::ssl::stream_base::client, handler); });
  return socket;
}

}  // namespace

std::unique_ptr<Socket> connect(const ConnectionSettings& settings) {
  if (settings.tls) return connect_tls(settings);
  if (settings.socket.empty()) {
    auto socket = std::make_unique<AsioSocket<Tcp::socket>>();
    connect_tcp(*socket, settings);
    return socket;
  }
  auto socket = std::make_unique<AsioSocket<Local::socket>>();
  constexpr std::size_t kLongestPath = 107;
  if (settings.socket.size() > kLongestPath) {
    throw SocketError{"the path of a Unix socket has at most 107 bytes", false};
  }
  complete(*socket, settings.connect_timeout, name_of(settings), [&](auto handler) {
    socket->stream().async_connect(Local::endpoint{settings.socket}, handler);
  });
  return socket;
}

}  // namespace errand::redis
