#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "errand/export.hpp"

namespace errand {

/// Metadata that travels with a message: trace ids, tenants, stamps.
using Headers = std::map<std::string, std::string, std::less<>>;

/// A message on its way: a stable type name, its JSON body, and headers. Immutable.
class ERRAND_EXPORT Envelope {
 public:
  Envelope(std::string type, std::string body, Headers headers = {})
      : type_{std::move(type)}, body_{std::move(body)}, headers_{std::move(headers)} {}

  [[nodiscard]] const std::string& type() const noexcept { return type_; }
  [[nodiscard]] const std::string& body() const noexcept { return body_; }
  [[nodiscard]] const Headers& headers() const noexcept { return headers_; }

  /// A copy with one header set.
  [[nodiscard]] Envelope with_header(std::string name, std::string value) const {
    Headers headers = headers_;
    headers.insert_or_assign(std::move(name), std::move(value));
    return Envelope{type_, body_, std::move(headers)};
  }

 private:
  std::string type_;
  std::string body_;
  Headers headers_;
};

}  // namespace errand
