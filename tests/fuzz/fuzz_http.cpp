// A request from its bytes to its answer, without the socket: whatever comes in, an answer goes out
// that is HTTP, is no mistake of ours, and holds JSON where it says so.
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

#include "errand/sqlite.hpp"

#include "fuzz/invariant.hpp"
#include "http/access.hpp"
#include "http/dashboard.hpp"
#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/response_text.hpp"
#include "http/routes.hpp"
#include "http/submit_body.hpp"
#include "http/submit_many.hpp"

namespace {

namespace beast = boost::beast;
using namespace errand::http;
using errand::fuzz::require;

/// A storage that ends with the program.
struct Storage {
  Storage() {
    std::string pattern = (std::filesystem::temp_directory_path() / "errand-fuzz-XXXXXX").string();
    require(::mkdtemp(pattern.data()) != nullptr, "there is a directory for the storage");
    directory = pattern;
    engine = errand::open_sqlite(
        errand::Dsn{"sqlite://" + (directory / "tasks.db").string() + "?synchronous=normal"});
  }
  ~Storage() {
    engine.reset();
    std::filesystem::remove_all(directory);
  }

  std::filesystem::path directory;
  std::unique_ptr<errand::Engine> engine;
};

Service& service() {
  static Storage storage;
  static Metrics metrics;
  static History history;
  static const Access access;
  static Service made{.engine = *storage.engine,
                      .metrics = metrics,
                      .history = history,
                      .access = access,
                      .last_observation = [] { return std::shared_ptr<const Observation>{}; }};
  return made;
}

Response submit(const Request& request) {
  if (media_type(request.headers.content_type) == "application/x-ndjson") {
    return submit_many(service().engine, request);
  }
  const RequestedTask requested = requested_task(request);
  require(!requested.task.envelope.type().empty(), "a task has a type");
  service().engine.queue().submit({&requested.task, 1});
  return Response::empty(201);
}

Response serve(const Request& request) {
  const Match found = match(request.method, request.target);
  if (found.route == nullptr) return dashboard_file(request);
  const Call call{service(), request, found.parts};
  if (const auto* immediate = std::get_if<Immediate>(&found.route->action)) {
    return immediate->serve(call);
  }
  if (const auto* blocking = std::get_if<Blocking>(&found.route->action)) return (*blocking)(call);
  if (std::get<Waiting>(found.route->action) == Waiting::submit) return submit(request);
  return Response::empty(204);
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
  try {
    Request request = request_of(parser.get());
    require_loopback_host(request.headers);
    refuse_cross_site(request.method, request.headers);
    request.role = service().access.role_of(request.headers);
    request.body = parser.get().body();
    return serve(request);
  } catch (const errand::fuzz::InvariantBroken&) {
    throw;
  } catch (...) {
    return problem_response(std::current_exception());
  }
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
