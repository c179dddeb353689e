#include "http/server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <fmt/format.h>

#include "errand/errors.hpp"

#include "http/history.hpp"
#include "http/session.hpp"

namespace errand::http {
namespace {

using asio::ip::tcp;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Socket = asio::basic_stream_socket<tcp, Executor>;

constexpr std::chrono::seconds kLastWords{5};  ///< for requests under way when it stops
constexpr int kLengthyThreads = 2;
constexpr std::size_t kMostLengthy = 100;

void require_token_beyond_loopback(const ListenAddress& listen, const Access& access) {
  if (listen.is_loopback() || access.has_tokens()) return;
  throw ConfigurationException{fmt::format(
      "{} can be reached by others, and everybody could change everything: give a token, by "
      "--token-file or ERRAND_TOKEN, or listen on 127.0.0.1",
      listen.to_string())};
}

std::optional<asio::ssl::context> tls_context(const std::optional<TlsFiles>& files) {
  if (!files) return std::nullopt;
  asio::ssl::context context{asio::ssl::context::tls_server};
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  boost::system::error_code error;
  context.use_certificate_chain_file(files->certificate, error);
  if (error) {
    throw ConfigurationException{
        fmt::format("cannot use the certificate {}: {}", files->certificate, error.message())};
  }
  context.use_private_key_file(files->key, asio::ssl::context::pem, error);
  if (error || SSL_CTX_check_private_key(context.native_handle()) != 1) {
    throw ConfigurationException{
        fmt::format("cannot use the key {}: {}", files->key,
                    error ? error.message() : "it does not belong to " + files->certificate)};
  }
  return context;
}

}  // namespace

class Server::Impl {
 public:
  Impl(Application& app, const Access& access, Metrics& metrics, ServerOptions options,
       Logger& logger)
      : options_{std::move(options)},
        logger_{logger},
        tls_{tls_context(options_.tls)},
        failed_messages_{options_.messages},
        service_{.engine = app.engine(),
                 .metrics = metrics,
                 .history = history_,
                 .access = access,
                 .worker_types = options_.worker_types,
                 .last_observation = [this] { return feed_.last_observation(); },
                 .failed_messages = &failed_messages_},
        pools_{.storage = {options_.storage_threads, options_.limits.calls},
               .lengthy = {kLengthyThreads, kMostLengthy},
               .aside = {1, options_.limits.calls}},
        feed_{app.engine(), history_, logger,
              [this](std::shared_ptr<const Change> change) {
                asio::post(loop_,
                           [this, change = std::move(change)] { front_.hub.publish(change); });
              }},
        front_{loop_owner_, pools_, service_, app.tasks(), feed_, options_, logger} {
    require_token_beyond_loopback(options_.listen, access);
    listen();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

  [[nodiscard]] std::string url() const {
    const ListenAddress address{options_.listen.host, port_};
    return (tls_ ? "https://" : "http://") + address.to_string();
  }

  void run(const std::stop_token& stop) {
    const std::stop_callback on_stop{stop, [this] { asio::post(loop_, [this] { end(); }); }};
    asio::co_spawn(loop_, accept(), asio::detached);
    loop_.run();  // until the last connection has ended
  }

 private:
  void listen() {
    boost::system::error_code error;
    const tcp::endpoint endpoint{asio::ip::make_address(options_.listen.host),
                                 options_.listen.port};
    const auto check = [&] {
      if (!error) return;
      throw ConfigurationException{fmt::format("cannot listen on {}: {}; --listen takes another",
                                               options_.listen.to_string(), error.message())};
    };
    acceptor_.open(endpoint.protocol(), error);
    check();
    acceptor_.set_option(asio::socket_base::reuse_address{true});
    acceptor_.bind(endpoint, error);
    check();
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    check();
    port_ = acceptor_.local_endpoint().port();
  }

  /// Goes on whatever happens: a server that accepts nobody is worse than one that is gone.
  Awaitable<> accept() {
    while (acceptor_.is_open()) {
      auto [error, socket] = co_await acceptor_.async_accept(kAwaitResult);
      if (front_.stopping) co_return;
      bool in_trouble = static_cast<bool>(error);
      try {
        if (!error) welcome(std::move(socket));
      } catch (const std::exception& trouble) {
        logger_.error(fmt::format("a connection could not be accepted: {}", trouble.what()));
        in_trouble = true;
      }
      if (!in_trouble) continue;
      // No more file descriptors or memory, most likely: others have to give theirs back first.
      Timer pause{loop_, std::chrono::milliseconds{100}};
      co_await pause.async_wait(kAwaitResult);
    }
  }

  void welcome(Socket socket) {
    if (front_.connections() >= options_.limits.connections) {
      turn_away(std::move(socket));
      return;
    }
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay{true}, ignored);
    TcpStream stream{std::move(socket)};
    if (tls_) {
      asio::co_spawn(loop_, converse(TlsStream{std::move(stream), *tls_}), asio::detached);
    } else {
      asio::co_spawn(loop_, converse(std::move(stream)), asio::detached);
    }
  }

  template <class Stream>
  Awaitable<> converse(Stream stream) {
    Session<Stream> session{std::move(stream), front_};
    co_await session.run();
  }

  /// In one write, if that can be done at once: nobody waits for a client that is one too many.
  void turn_away(Socket socket) {
    const Response response = Problem{503, "this server has as many connections as it takes"}
                                  .with_header("Retry-After", "5")
                                  .response();
    const std::string text = header_text(response, Connection::close) + response.body;
    boost::system::error_code ignored;
    socket.non_blocking(true, ignored);
    if (!tls_) socket.write_some(asio::buffer(text), ignored);
    socket.shutdown(Socket::shutdown_send, ignored);
  }

  void end() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    front_.stop();
    asio::co_spawn(loop_, see_off(), asio::detached);
  }

  /// Requests under way have some time to end.
  Awaitable<> see_off() {
    const auto deadline = std::chrono::steady_clock::now() + kLastWords;
    while (front_.connections() > 0 && std::chrono::steady_clock::now() < deadline) {
      Timer pause{loop_, std::chrono::milliseconds{20}};
      co_await pause.async_wait(kAwaitResult);
    }
    front_.cut_off();
  }

  const ServerOptions options_;
  Logger& logger_;
  std::optional<asio::ssl::context> tls_;
  History history_;
  std::shared_ptr<asio::io_context> loop_owner_ = std::make_shared<asio::io_context>(1);
  asio::io_context& loop_ = *loop_owner_;
  Acceptor acceptor_{loop_};
  std::uint16_t port_ = 0;
  FailureTransports failed_messages_;
  Service service_;
  BlockingPools pools_;
  ChangeFeed feed_;
  Front front_;
};

Server::Server(Application& app, const Access& access, Metrics& metrics, ServerOptions options,
               Logger& logger)
    : impl_{std::make_unique<Impl>(app, access, metrics, std::move(options), logger)} {}

Server::~Server() = default;

std::uint16_t Server::port() const noexcept { return impl_->port(); }
std::string Server::url() const { return impl_->url(); }
void Server::run(const std::stop_token& stop) { impl_->run(stop); }

}  // namespace errand::http
