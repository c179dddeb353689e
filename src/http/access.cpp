#include "http/access.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include "errand/errors.hpp"

#include "http/problem.hpp"

namespace errand::http {
namespace {

std::string digest_of(std::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return {digest.begin(), digest.end()};
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

Problem unauthorized(const std::string& detail) {
  return Problem{401, detail}.with_header("WWW-Authenticate", "Bearer realm=\"errand\"");
}

/// The host of `host:port`, `[v6]:port` or without a port.
std::string_view without_port(std::string_view host) {
  if (!host.empty() && host.front() == '[') return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_ipv4_loopback(std::string_view host) {
  return host.starts_with("127.") && host.size() <= 15 &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

void Access::add_token(std::string token, Role role) {
  if (token.size() < kShortestToken) {
    throw ConfigurationException{
        fmt::format("a token must have at least {} characters; openssl rand -hex 32 makes one",
                    kShortestToken)};
  }
  if (!std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; })) {
    throw ConfigurationException{
        "a token must be of printable ASCII characters without spaces; openssl rand -hex 32 makes "
        "one"};
  }
  tokens_.push_back(Token{digest_of(token), role});
  OPENSSL_cleanse(token.data(), token.size());
}

void Access::add_token_file(const std::string& path) {
  struct stat status {};
  std::ifstream file{path};
  if (!file || stat(path.c_str(), &status) != 0) {
    throw ConfigurationException{fmt::format("cannot read the token file {}", path)};
  }
  if ((status.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    throw ConfigurationException{
        fmt::format("others can read the token file {}: chmod 600 {}", path, path)};
  }
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t space = line.find(' ');
    const std::string role = line.substr(0, space);
    if (space == std::string::npos || (role != "operator" && role != "reader")) {
      // The line itself may be a token: it is not shown.
      throw ConfigurationException{fmt::format(
          "line {} of the token file {} must be `operator TOKEN` or `reader TOKEN`", number, path)};
    }
    add_token(line.substr(line.find_first_not_of(' ', space)),
              role == "operator" ? Role::operator_ : Role::reader);
  }
  if (!has_tokens()) {
    throw ConfigurationException{fmt::format(
        "the token file {} has no token; a line of it is `operator TOKEN` or `reader TOKEN`",
        path)};
  }
}

Role Access::role_of(const RequestHeaders& headers) const {
  if (!has_tokens()) return Role::operator_;
  if (headers.authorization.empty()) return Role::none;
  constexpr std::string_view kScheme = "Bearer ";
  if (!equals_ignoring_case(headers.authorization.substr(0, kScheme.size()), kScheme)) {
    throw unauthorized("send the token as Authorization: Bearer TOKEN");
  }
  const std::string digest = digest_of(headers.authorization.substr(kScheme.size()));
  Role role = Role::none;
  for (const Token& token : tokens_) {
    const bool same = CRYPTO_memcmp(token.digest.data(), digest.data(), digest.size()) == 0;
    role = same ? std::max(role, token.role) : role;
  }
  if (role == Role::none) throw unauthorized("this server does not know the token");
  return role;
}

void Access::require(Role role, Role needed) {
  if (role >= needed) return;
  if (role == Role::none) {
    throw unauthorized("this needs a token: send it as Authorization: Bearer TOKEN");
  }
  throw Problem{403, "the token may only read; this needs one with the role operator"};
}

void refuse_cross_site(Method method, const RequestHeaders& headers) {
  if (method == Method::get || method == Method::head) return;
  constexpr const char* kRefusal =
      "a page of another site sent this; only this server's own pages and programs that are no "
      "browsers may change something";
  if (!headers.sec_fetch_site.empty()) {
    if (headers.sec_fetch_site != "same-origin" && headers.sec_fetch_site != "none") {
      throw Problem{403, kRefusal}.named("cross-site");
    }
    return;
  }
  if (headers.origin.empty()) return;
  const std::size_t scheme = headers.origin.find("://");
  if (scheme == std::string_view::npos ||
      !equals_ignoring_case(headers.origin.substr(scheme + 3), headers.host)) {
    throw Problem{403, kRefusal}.named("cross-site");
  }
}

void require_loopback_host(const RequestHeaders& headers) {
  const std::string_view host = without_port(headers.host);
  if (equals_ignoring_case(host, "localhost") || host == "[::1]" || is_ipv4_loopback(host)) return;
  throw Problem{421,
                "this server has no tokens and answers to localhost only; to be reached under "
                "another name it needs --token-file"}
      .named("unknown-host");
}

}  // namespace errand::http
