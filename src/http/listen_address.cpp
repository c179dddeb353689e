#include "http/listen_address.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <fmt/format.h>

#include "errand/errors.hpp"

namespace errand::http {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw ConfigurationException{
      fmt::format("--listen takes ADDRESS:PORT, as in 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8080, "
                  "not '{}'",
                  text)};
}

std::uint16_t port_of(std::string_view digits, const std::string& text) {
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, port);
  if (digits.empty() || read.ec != std::errc{} || read.ptr != end) refuse(text);
  return port;
}

bool is_ipv4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

ListenAddress ListenAddress::parse(const std::string& text) {
  ListenAddress address;
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    address.port = port_of(text, text);
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) refuse(text);
  address.host = text.substr(0, colon);
  address.port = port_of(std::string_view{text}.substr(colon + 1), text);
  if (address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
    if (!is_ipv6(address.host)) refuse(text);
  } else if (address.host == "localhost") {
    address.host = "127.0.0.1";
  } else if (!is_ipv4(address.host)) {
    refuse(text);
  }
  return address;
}

bool ListenAddress::is_loopback() const { return host.starts_with("127.") || host == "::1"; }

std::string ListenAddress::to_string() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

}  // namespace errand::http
