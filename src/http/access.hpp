#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/request.hpp"

namespace errand::http {

/// Who may do what. Immutable once the server runs; never prints a token.
class Access {
 public:
  static constexpr std::size_t kShortestToken = 16;

  /// Throws ConfigurationException for a token shorter than kShortestToken or with characters that
  /// an Authorization header cannot carry; the message has no part of it.
  void add_token(std::string token, Role role);

  /// A file with a role and a token on each line, `operator TOKEN` or `reader TOKEN`; empty lines
  /// and those that begin with # do not count. Throws ConfigurationException, also if others than
  /// its owner may read the file.
  void add_token_file(const std::string& path);

  [[nodiscard]] bool has_tokens() const noexcept { return !tokens_.empty(); }

  /// Without tokens everybody who reaches the server is an operator. With tokens, Role::none
  /// without an Authorization header; Problem 401 for a wrong one. Compares with all tokens, in
  /// time that depends on neither.
  [[nodiscard]] Role role_of(const RequestHeaders& headers) const;

  /// Problem 401 or 403 unless `role` suffices for `needed`.
  static void require(Role role, Role needed);

 private:
  struct Token {
    std::string digest;  ///< SHA-256: equally long for all, and the token itself is not kept
    Role role;
  };
  std::vector<Token> tokens_;
};

/// Problem 403 if a browser sent a request that changes something from a page that is not this
/// server's: its Sec-Fetch-Site says so or, in browsers without it, its Origin is not the Host.
void refuse_cross_site(Method method, const RequestHeaders& headers);

/// Problem 421 unless the Host is a name or address of this machine's loopback. Without tokens, a
/// page of another site could otherwise reach the server under a name that it lets point here.
void require_loopback_host(const RequestHeaders& headers);

}  // namespace errand::http
