#include "http/message.hpp"

namespace errand::http {
namespace {

namespace beast = boost::beast;

Method method_of(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::get:
      return Method::get;
    case beast::http::verb::head:
      return Method::head;
    case beast::http::verb::post:
      return Method::post;
    case beast::http::verb::delete_:
      return Method::delete_;
    default:
      return Method::other;
  }
}

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Request request_of(const MessageHeader& header) {
  using beast::http::field;
  Request request;
  request.method = method_of(header.method());
  const auto header_field = [&](auto name) { return view(header[name]); };
  RequestHeaders& headers = request.headers;
  headers.host = header_field(field::host);
  headers.authorization = header_field(field::authorization);
  headers.content_type = header_field(field::content_type);
  headers.origin = header_field(field::origin);
  headers.if_none_match = header_field(field::if_none_match);
  headers.sec_fetch_site = header_field("Sec-Fetch-Site");
  headers.idempotency_key = header_field("Idempotency-Key");
  headers.traceparent = header_field("traceparent");
  if (headers.idempotency_key.empty() && header.count("Idempotency-Key") > 0) {
    throw Problem{400, "the Idempotency-Key is empty: leave it out, or send 1 to 200 characters"};
  }
  const std::string_view encoding = header_field(field::content_encoding);
  if (!encoding.empty() && !beast::iequals(header[field::content_encoding], "identity")) {
    throw Problem{415, "bodies are taken as they are: send it without Content-Encoding"}
        .with_header("Accept-Encoding", "identity");
  }
  if (header.count(field::host) != 1) {
    throw Problem{400, "a request must have one Host header"};
  }
  request.target = parse_target(view(header.target()));
  return request;
}

std::optional<Problem> problem_of_bytes(const boost::system::error_code& code) {
  using beast::http::error;
  if (code == error::header_limit) {
    return Problem{431, "the header is larger than this server takes"};
  }
  if (code == error::body_limit) {
    return Problem{413, "the body is larger than this server takes"};
  }
  if (code == error::end_of_stream || code == error::partial_message) return std::nullopt;
  if (code.category() == beast::http::make_error_code(error::bad_method).category()) {
    return Problem{400, "this is not HTTP/1.1: " + code.message()};
  }
  return std::nullopt;
}

}  // namespace errand::http
