#include "http/metrics_listener.hpp"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <fmt/format.h>
#include <thread>

#include "errand/errors.hpp"

#include "core/block_signals.hpp"
#include "http/loop.hpp"
#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/response_text.hpp"

namespace errand::http {
namespace {

namespace beast = boost::beast;
using asio::ip::tcp;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Stream = beast::basic_stream<tcp, Executor>;

/// Whoever collects metrics asks every few seconds and waits for one answer.
constexpr std::size_t kMostConnections = 64;
constexpr std::uint32_t kMostHeaderBytes = 16U << 10U;
constexpr std::chrono::seconds kPatience{10};

}  // namespace

class MetricsListener::Impl {
 public:
  Impl(const ListenAddress& listen_on, const Access& access, const Metrics& metrics)
      : access_{access}, metrics_{metrics}, host_{listen_on.host} {
    if (!listen_on.is_loopback() && !access.has_tokens()) {
      throw ConfigurationException{
          fmt::format("{} can be reached by others, who would learn the names of queues and types: "
                      "give a token by ERRAND_READ_TOKEN, or listen on 127.0.0.1",
                      listen_on.to_string())};
    }
    listen(listen_on);
    asio::co_spawn(loop_, accept(), asio::detached);
    thread_ = detail::start_without_signals([this] { loop_.run(); });
  }

  ~Impl() { loop_.stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::string url() const {
    const ListenAddress address{host_, acceptor_.local_endpoint().port()};
    return "http://" + address.to_string() + "/metrics";
  }

 private:
  void listen(const ListenAddress& address) {
    boost::system::error_code error;
    const tcp::endpoint endpoint{asio::ip::make_address(address.host), address.port};
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address{true}, error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw ConfigurationException{fmt::format("cannot listen on {}: {}; --metrics takes another",
                                               address.to_string(), error.message())};
    }
  }

  Awaitable<> accept() {
    while (true) {
      auto [error, socket] = co_await acceptor_.async_accept(kAwaitResult);
      if (error || connections_ == kMostConnections) {
        Timer pause{loop_, std::chrono::milliseconds{100}};
        co_await pause.async_wait(kAwaitResult);
        continue;  // what was accepted is closed
      }
      asio::co_spawn(loop_, converse(Stream{std::move(socket)}), asio::detached);
    }
  }

  /// One request and its answer. Never throws: who goes early is not missed.
  Awaitable<> converse(Stream stream) {
    ++connections_;
    beast::flat_buffer buffer;
    beast::http::request_parser<beast::http::empty_body> parser;
    parser.header_limit(kMostHeaderBytes);
    stream.expires_after(kPatience);
    const auto [error, size] =
        co_await beast::http::async_read_header(stream, buffer, parser, kAwaitResult);
    if (!error || problem_of_bytes(error)) {
      const bool bodiless = !error && parser.get().method() == beast::http::verb::head;
      const Response response =
          error ? problem_of_bytes(error)->response() : answer(parser.get().base());
      const std::string text =
          header_text(response, Connection::close) + (bodiless ? "" : response.body);
      stream.expires_after(kPatience);
      co_await asio::async_write(stream, asio::buffer(text), kAwaitResult);
      co_await say_goodbye(stream);
    }
    --connections_;
  }

  [[nodiscard]] Response answer(const MessageHeader& header) const {
    try {
      const Request request = request_of(header);
      if (!access_.has_tokens()) require_loopback_host(request.headers);
      if (request.method != Method::get && request.method != Method::head) {
        throw Problem{405, "only GET and HEAD"}.with_header("Allow", "GET, HEAD");
      }
      const std::vector<std::string>& path = request.target.segments;
      if (path == std::vector<std::string>{"healthz"}) return Response::json(R"({"status":"ok"})");
      if (path != std::vector<std::string>{"metrics"}) {
        throw Problem{404, "there are /metrics and /healthz"};
      }
      Access::require(access_.role_of(request.headers), Role::reader);
      Response response = Response::json(metrics_.text());
      response.content_type = "text/plain; version=0.0.4; charset=utf-8";
      return response;
    } catch (...) {
      return problem_response(std::current_exception());
    }
  }

  /// Closing with unread bytes would take the answer away from a client that is still sending.
  static Awaitable<> say_goodbye(Stream& stream) {
    boost::system::error_code error;
    stream.socket().shutdown(tcp::socket::shutdown_send, error);
    std::array<char, 4096> dropped;
    for (int i = 0; i < 16 && !error; ++i) {
      stream.expires_after(std::chrono::seconds{1});
      std::tie(error, std::ignore) =
          co_await stream.async_read_some(asio::buffer(dropped), kAwaitResult);
    }
  }

  const Access& access_;
  const Metrics& metrics_;
  const std::string host_;
  asio::io_context loop_{1};
  Acceptor acceptor_{loop_};
  std::size_t connections_ = 0;
  std::jthread thread_;
};

MetricsListener::MetricsListener(const ListenAddress& listen, const Access& access,
                                 const Metrics& metrics)
    : impl_{std::make_unique<Impl>(listen, access, metrics)} {}

MetricsListener::~MetricsListener() = default;

std::string MetricsListener::url() const { return impl_->url(); }

}  // namespace errand::http
