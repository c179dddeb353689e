#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.hpp"

namespace errand::http {

/// The query parameters of a request by their types. Every method throws Problem 400 that names the
/// parameter and the right form. A parameter without a value counts as not given.
class Query {
 public:
  /// Refuses parameters that are not among `known`, and those given twice: what is mistyped must
  /// not widen a filter silently. `target` and the names must outlive this.
  Query(const Target& target, std::initializer_list<std::string_view> known);

  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most,
                                     std::int64_t otherwise) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::chrono::milliseconds duration(std::string_view name,
                                                   std::chrono::milliseconds most) const;
  /// Separated by commas; empty ones are dropped.
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;

 private:
  [[nodiscard]] const std::string* find(std::string_view name) const;

  const Target& target_;
};

}  // namespace errand::http
