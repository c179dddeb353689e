#include "http/response_text.hpp"

#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "http/problem.hpp"

namespace errand::http {
namespace {

constexpr std::string_view kAlways =
    "Content-Security-Policy: default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

/// Written once a second: answers come more often.
std::string_view date() {
  thread_local std::time_t second = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != second) {
    second = now;
    text = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(now));
  }
  return text;
}

std::string_view reason(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    default:
      return reason_of(status);
  }
}

}  // namespace

std::string header_text(const Response& response, Connection connection) {
  std::string text;
  text.reserve(1024);
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason(response.status),
                 date());
  if (response.status != 204 && response.status != 304) {
    const std::size_t length =
        response.embedded.empty() ? response.body.size() : response.embedded.size();
    fmt::format_to(out, "Content-Type: {}\r\nContent-Length: {}\r\n", response.content_type,
                   length);
  }
  for (const auto& [name, value] : response.headers) {
    fmt::format_to(out, "{}: {}\r\n", name, value);
  }
  fmt::format_to(out, "Cache-Control: {}\r\n", response.cache_control);
  text += kAlways;
  text += connection == Connection::keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return text;
}

std::string event_stream_header() {
  return fmt::format(
      "HTTP/1.1 200 OK\r\nDate: {}\r\nContent-Type: text/event-stream\r\nCache-Control: "
      "no-store\r\n"
      "X-Accel-Buffering: no\r\n{}Connection: close\r\n\r\n",
      date(), kAlways);
}

}  // namespace errand::http
