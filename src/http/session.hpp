#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "http/front.hpp"
#include "http/leave_watch.hpp"
#include "http/message.hpp"
#include "http/response_text.hpp"

namespace errand::http {

namespace beast = boost::beast;

using TcpStream = beast::basic_stream<asio::ip::tcp, Executor>;
using TlsStream = asio::ssl::stream<TcpStream>;

/// One connection, from its first byte to its end. Belongs to the loop's thread.
///
/// A request's header is judged before its body is read: whoever may not send one does not get to
/// cost memory.
template <class Stream>
class Session {
 public:
  Session(Stream stream, Front& front) : front_{front}, stream_{std::move(stream)} {}

  /// Never throws.
  Awaitable<> run() {
    const OpenConnection open{front_, [this](When when) { hang_up(when); }};
    try {
      if (co_await shake_hands()) {
        std::optional<ChangeFeed::Interest> stream_wanted;
        while (co_await serve_one(stream_wanted)) {
        }
        if (stream_wanted) {
          // A stream lives long: what reading the request took is given back.
          buffer_ = beast::flat_buffer{};
          co_await stream_events(*std::move(stream_wanted));
        }
        co_await say_goodbye();
      }
    } catch (const std::exception& error) {
      front_.logger.debug(std::string{"a connection broke: "} + error.what());
    }
  }

 private:
  using Parser = beast::http::request_parser<beast::http::string_body>;
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsStream>;

  TcpStream& tcp() { return beast::get_lowest_layer(stream_); }

  Awaitable<bool> shake_hands() {
    if constexpr (kIsTls) {
      tcp().expires_after(limits().header);
      const auto [error] =
          co_await stream_.async_handshake(asio::ssl::stream_base::server, kAwaitResult);
      co_return !error;
    }
    co_return true;
  }

  /// False: the connection has to end. `stream_wanted`: after a stream of events on it.
  Awaitable<bool> serve_one(std::optional<ChangeFeed::Interest>& stream_wanted) {
    if (!co_await wait_for_request()) co_return false;
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(limits().header_bytes));
    parser.body_limit(boost::none);  // first things first: who is it?
    tcp().expires_after(limits().header);
    const auto [error, size] =
        co_await beast::http::async_read_header(stream_, buffer_, parser, kAwaitResult);
    if (error) {
      const Request unknown;
      Served nothing;
      co_return co_await refuse(error, unknown, nothing);
    }
    Request request;
    Served served;
    std::exception_ptr refused;
    auto begin = std::chrono::steady_clock::now();
    try {
      front_.judge(parser.get(), request, served);
      if (const auto broken = co_await read_body(parser, request)) {
        co_return co_await refuse(broken, request, served);
      }
      begin = std::chrono::steady_clock::now();  // how long a body takes is the client's affair
      served.response = co_await serve(served, request);
    } catch (...) {
      refused = std::current_exception();
    }
    if (refused) served.response = front_.explain(refused);
    front_.record(request, served, std::chrono::steady_clock::now() - begin);
    if (served.stream) {
      if (request.method == Method::head) {
        co_await send_stream_header();
      } else {
        stream_wanted = std::move(served.stream);
      }
      co_return false;
    }
    // After a refusal the rest of the request may still be on its way: it cannot be told from the
    // next one.
    const bool again = parser.is_done() && parser.get().keep_alive() && !front_.stopping;
    co_await answer(served.response, request.method,
                    again ? Connection::keep_alive : Connection::close);
    co_return again;
  }

  /// Where the client waits for something, it is not waited for once it has left.
  Awaitable<Response> serve(Served& served, const Request& request) {
    std::optional<LeaveWatch> watch;
    if (served.match.route != nullptr && served.match.route->waits_for_result()) {
      watch.emplace(front_.loop, tcp().socket(), [&served] {
        if (served.wait) served.wait->cancel();
      });
    }
    co_return co_await front_.serve(served, request);
  }

  /// A client may keep a connection and say nothing for a while; once it says something it has to
  /// come to an end.
  Awaitable<bool> wait_for_request() {
    if (buffer_.size() > 0) co_return true;
    if (front_.stopping) co_return false;
    idle_ = true;
    tcp().expires_after(limits().idle);
    const auto [error, size] =
        co_await stream_.async_read_some(buffer_.prepare(kReadSize), kAwaitResult);
    idle_ = false;
    if (error) co_return false;
    buffer_.commit(size);
    co_return true;
  }

  /// What broke it off.
  Awaitable<boost::system::error_code> read_body(Parser& parser, Request& request) {
    if (parser.is_done()) co_return boost::system::error_code{};
    parser.body_limit(limits().body_bytes);
    tcp().expires_after(limits().body);
    if (beast::iequals(parser.get()[beast::http::field::expect], "100-continue")) {
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(stream_, asio::buffer(kContinue), kAwait);
    }
    const auto [error, size] =
        co_await beast::http::async_read(stream_, buffer_, parser, kAwaitResult);
    if (!error) request.body = std::move(parser.get().body());
    co_return error;
  }

  /// Says what is wrong with the bytes, as far as somebody listens. Always false.
  Awaitable<bool> refuse(const boost::system::error_code& error, const Request& request,
                         Served& served) {
    const std::optional<Problem> problem = problem_of_bytes(error);
    if (problem) {
      served.response = problem->response();
      front_.record(request, served, {});
      co_await answer(served.response, Method::get, Connection::close);
    }
    co_return false;
  }

  Awaitable<> answer(const Response& response, Method method, Connection connection) {
    std::string header = header_text(response, connection);
    std::string_view body = response.embedded.empty() ? response.body : response.embedded;
    if (method == Method::head || response.status == 304) body = {};
    if constexpr (kIsTls) {
      // Each buffer becomes a record of its own: a short answer is one, not two.
      if (body.size() <= kLongestRecord - header.size()) {
        header += body;
        body = {};
      }
    }
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(header),
                                                    asio::buffer(body.data(), body.size())};
    tcp().expires_after(limits().answer);
    co_await asio::async_write(stream_, buffers, kAwait);
  }

  Awaitable<> send_stream_header() {
    const std::string header = event_stream_header();
    tcp().expires_after(limits().answer);
    co_await asio::async_write(stream_, asio::buffer(header), kAwait);
  }

  Awaitable<> stream_events(ChangeFeed::Interest interest) {
    Subscriber subscriber{front_.loop, std::move(interest)};
    const Listening listening{front_, subscriber};
    co_await send_stream_header();
    bool left = false;
    const LeaveWatch watch{front_.loop, tcp().socket(), [&] {
                             left = true;
                             subscriber.news.cancel();
                           }};
    if (subscriber.interest.stats) {
      if (const auto sample = front_.feed.last_sample()) subscriber.offer(sample);
    }
    while (!front_.stopping && !left) {
      if (subscriber.frames.empty()) {
        subscriber.news.expires_after(kKeepAlive);
        const auto [woken] = co_await subscriber.news.async_wait(kAwaitResult);
        if (front_.stopping || left) break;
        static const auto still_here = std::make_shared<const std::string>(": still here\n\n");
        if (!woken && subscriber.frames.empty()) subscriber.frames.push_back(still_here);
        if (subscriber.frames.empty()) continue;
      }
      const std::vector<Subscriber::Frame> frames = std::exchange(subscriber.frames, {});
      std::vector<asio::const_buffer> buffers;
      for (const Subscriber::Frame& frame : frames) buffers.push_back(asio::buffer(*frame));
      tcp().expires_after(limits().answer);
      co_await asio::async_write(stream_, buffers, kAwait);
    }
  }

  /// Closing with unread bytes would take the answer away from the client that is still sending:
  /// they are read and dropped for a moment.
  Awaitable<> say_goodbye() {
    constexpr std::chrono::seconds kMoment{1};
    constexpr int kMostReads = 64;
    tcp().expires_after(kMoment);
    if constexpr (kIsTls) {
      co_await stream_.async_shutdown(kAwaitResult);
    }
    boost::system::error_code error;
    tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
    std::array<char, 8192> dropped;
    for (int i = 0; i < kMostReads && !error; ++i) {
      tcp().expires_after(kMoment);
      std::tie(error, std::ignore) =
          co_await tcp().async_read_some(asio::buffer(dropped), kAwaitResult);
    }
    tcp().close();
  }

  void hang_up(When when) {
    if (idle_ || when == When::now) tcp().cancel();
  }

  [[nodiscard]] const Limits& limits() const { return front_.options.limits; }

  static constexpr std::size_t kReadSize = 4096;
  static constexpr std::size_t kLongestRecord = 16384;  ///< of TLS; no header of ours is so long
  static constexpr std::chrono::seconds kKeepAlive{15};

  Front& front_;
  Stream stream_;
  beast::flat_buffer buffer_;
  bool idle_ = false;
};

}  // namespace errand::http
