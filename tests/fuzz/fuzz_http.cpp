// A request from its bytes to its answer, without the socket: whatever comes in, an answer goes out
// that is HTTP, is no mistake of ours, and holds JSON where it says so.
#include <boost/asio/co_spawn.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

#include "errand/application.hpp"
#include "errand/sqlite.hpp"

#include "fuzz/invariant.hpp"
#include "http/access.hpp"
#include "http/front.hpp"
#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/response_text.hpp"

namespace {

namespace beast = boost::beast;
using namespace errand::http;
using errand::fuzz::require;

/// A directory that ends with the program.
struct Directory {
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "errand-fuzz-XXXXXX").string();
    require(::mkdtemp(pattern.data()) != nullptr, "there is a directory for the storage");
    path = pattern;
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

/// A server without its sockets.
struct SocketlessServer {
  /// The answer, as a connection would send it.
  Response serve(const MessageHeader& header, std::string body) {
    Response response;
    loop->restart();
    asio::co_spawn(*loop, answer(header, std::move(body), response),
                   [](const std::exception_ptr& error) {
                     if (error) std::rethrow_exception(error);
                   });
    loop->run();
    return response;
  }

  Awaitable<> answer(const MessageHeader& header, std::string body, Response& response) {
    Request request;
    Served served;
    std::exception_ptr refused;
    try {
      front.judge(header, request, served);
      request.body = std::move(body);
      response = co_await front.serve(served, request);
    } catch (...) {
      refused = std::current_exception();
    }
    if (refused) response = front.explain(refused);
    front.record(request, served, {});
  }

  SocketlessServer() { front.stopping = true; }  // nobody waits for a result

  Directory directory;
  errand::Application app{errand::open_sqlite(
      errand::Dsn{"sqlite://" + (directory.path / "tasks.db").string() + "?synchronous=normal"})};
  Metrics metrics;
  History history;
  const Access access;
  FailureTransports failed_messages{errand::detail::MessageConfiguration{}};
  Service service{.engine = app.engine(),
                  .metrics = metrics,
                  .history = history,
                  .access = access,
                  .last_observation = [this] { return feed.last_observation(); },
                  .failed_messages = &failed_messages};
  std::shared_ptr<asio::io_context> loop = std::make_shared<asio::io_context>(1);
  BlockingPools pools{.storage = {1, 10}, .lengthy = {1, 10}, .aside = {1, 10}};
  ChangeFeed feed{app.engine(), history, errand::silent_logger(),
                  [](const std::shared_ptr<const Change>&) {}};
  const ServerOptions options{};
  Front front{loop, pools, service, app.tasks(), feed, options, errand::silent_logger()};
};

SocketlessServer& server() {
  static SocketlessServer made;
  return made;
}

Response answer_to(std::string_view bytes) {
  beast::http::request_parser<beast::http::string_body> parser;
  parser.header_limit(16 << 10);
  parser.body_limit(1 << 20);
  parser.eager(true);
  beast::error_code error;
  std::size_t used = 0;
  while (!parser.is_done() && used < bytes.size() && !error) {
    const std::size_t more =
        parser.put(boost::asio::const_buffer{bytes.data() + used, bytes.size() - used}, error);
    if (more == 0) break;
    used += more;
  }
  if (error && error != beast::http::error::need_more) {
    const std::optional<Problem> problem = problem_of_bytes(error);
    return problem ? problem->response() : Response::empty(204);
  }
  if (!parser.is_header_done()) return Response::empty(204);
  return server().serve(parser.get(), parser.get().body());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Response response = answer_to({reinterpret_cast<const char*>(data), size});
  require(response.status != 500, "no request is a mistake of ours: " + response.body);
  const std::string header = header_text(response, Connection::close);
  require(header.find("\r\n\r\n") == header.size() - 4, "the header ends where it ends");
  if (!response.body.empty() && response.content_type.ends_with("json")) {
    boost::system::error_code error;
    boost::json::parse(response.body, error);
    require(!error, "what is said to be JSON is JSON");
  }
  return 0;
}
