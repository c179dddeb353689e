#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace errand::http {

enum class Method : std::uint8_t { get, head, post, delete_, other };

[[nodiscard]] std::string_view to_string(Method method) noexcept;

/// What a token allows. Each includes those before it.
enum class Role : std::uint8_t { none, reader, operator_ };

[[nodiscard]] std::string_view to_string(Role role) noexcept;

/// A request target, taken apart and percent-decoded.
struct Target {
  std::vector<std::string> segments{};  ///< of the path, without its first `/`
  std::vector<std::pair<std::string, std::string>> parameters{};
};

/// Throws Problem 400 for what is not an absolute path, is not percent-encoded UTF-8, has control
/// characters, dots as segments, or more than 64 parameters.
[[nodiscard]] Target parse_target(std::string_view text);

/// The headers that mean something here. Empty: not sent.
struct RequestHeaders {
  std::string_view host{};
  std::string_view authorization{};
  std::string_view content_type{};
  std::string_view origin{};
  std::string_view sec_fetch_site{};
  std::string_view idempotency_key{};
  std::string_view traceparent{};
  std::string_view if_none_match{};
};

/// The views live as long as the message they were taken from.
struct Request {
  Method method = Method::get;
  Target target{};
  RequestHeaders headers{};
  std::string body{};
  Role role = Role::none;
};

/// `application/json` of `Application/JSON; charset=utf-8`.
[[nodiscard]] std::string media_type(std::string_view content_type);

}  // namespace errand::http
