#include "http/access.hpp"

#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"

#include "http/problem.hpp"

namespace errand::http {
namespace {

constexpr const char* kOperator = "operator-token-123";
constexpr const char* kReader = "reader-token-12345";

Access with_tokens() {
  Access access;
  access.add_token(kOperator, Role::operator_);
  access.add_token(kReader, Role::reader);
  return access;
}

Role role_with(const Access& access, const std::string& authorization) {
  RequestHeaders headers;
  headers.authorization = authorization;
  return access.role_of(headers);
}

unsigned refusal(const std::function<void()>& call) {
  try {
    call();
    return 0;
  } catch (const Problem& problem) {
    return problem.status();
  }
}

TEST(Access, WithoutTokensEverybodyIsAnOperator) {
  EXPECT_EQ(role_with(Access{}, ""), Role::operator_);
  EXPECT_EQ(role_with(Access{}, "Bearer anything"), Role::operator_);
}

TEST(Access, ATokenGivesItsRole) {
  const Access access = with_tokens();
  EXPECT_EQ(role_with(access, ""), Role::none);
  EXPECT_EQ(role_with(access, std::string{"Bearer "} + kOperator), Role::operator_);
  EXPECT_EQ(role_with(access, std::string{"bearer "} + kReader), Role::reader);
}

TEST(Access, OtherTokensAreRefused) {
  const Access access = with_tokens();
  for (const char* text : {"Bearer ", "Bearer", "Basic x", "Bearer operator-token-12",
                           "Bearer operator-token-1234", "operator-token-123"}) {
    EXPECT_EQ(refusal([&] { role_with(access, text); }), 401U) << text;
  }
}

TEST(Access, ARoleIncludesThoseBelow) {
  EXPECT_EQ(refusal([] { Access::require(Role::operator_, Role::reader); }), 0U);
  EXPECT_EQ(refusal([] { Access::require(Role::none, Role::none); }), 0U);
  EXPECT_EQ(refusal([] { Access::require(Role::none, Role::reader); }), 401U);
  EXPECT_EQ(refusal([] { Access::require(Role::reader, Role::operator_); }), 403U);
}

TEST(Access, WeakTokensAreRefusedWithoutBeingShown) {
  Access access;
  for (const char* token : {"short", "has a space in it", "has-a-\n-newline-in"}) {
    try {
      access.add_token(token, Role::reader);
      ADD_FAILURE() << token;
    } catch (const ConfigurationException& error) {
      EXPECT_EQ(std::string{error.what()}.find(token), std::string::npos);
    }
  }
}

TEST(CrossSite, WritesOfOtherPagesAreRefused) {
  const auto refused = [](std::string_view site, std::string_view origin, Method method) {
    RequestHeaders headers;
    headers.host = "tasks.example:8080";
    headers.sec_fetch_site = site;
    headers.origin = origin;
    return refusal([&] { refuse_cross_site(method, headers); }) == 403;
  };
  EXPECT_TRUE(refused("cross-site", "", Method::post));
  EXPECT_TRUE(refused("same-site", "", Method::delete_));
  EXPECT_TRUE(refused("", "http://tasks.example", Method::post));
  EXPECT_TRUE(refused("", "null", Method::other));
  EXPECT_FALSE(refused("", "http://Tasks.example:8080", Method::post));
  EXPECT_FALSE(refused("same-origin", "", Method::post));
  EXPECT_FALSE(refused("", "", Method::post));
  EXPECT_FALSE(refused("cross-site", "https://evil.example", Method::get));
}

TEST(LoopbackHost, NamesOfOthersAreRefused) {
  const auto status = [](std::string_view host) {
    RequestHeaders headers;
    headers.host = host;
    return refusal([&] { require_loopback_host(headers); });
  };
  for (const char* host :
       {"localhost", "LocalHost:1", "127.0.0.1", "127.9.8.7:80", "[::1]", "[::1]:8"}) {
    EXPECT_EQ(status(host), 0U) << host;
  }
  for (const char* host : {"", "evil", "127.0.0.1.evil.example", "localhost.evil", "[::2]", "::1",
                           "127.evil.example", "0.0.0.0"}) {
    EXPECT_EQ(status(host), 421U) << host;
  }
}

}  // namespace
}  // namespace errand::http
