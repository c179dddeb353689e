#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "errand/detail/json_reader.hpp"
#include "errand/detail/json_writer.hpp"
#include "errand/export.hpp"
#include "errand/task.hpp"

/// Messages and results as JSON.
///
/// Understood: bool, integers, floating point, std::string, std::optional, std::vector,
/// std::map<std::string, T>, enums and structs described by Boost.Describe, boost::json::value,
/// and these inside each other. For a struct: members missing in the JSON must be std::optional,
/// members unknown to the struct are ignored, so that old and new programs can talk.
namespace errand {

/// Bounds for text that comes from outside.
struct JsonLimits {
  std::size_t max_bytes = kMaxDocumentBytes;
  std::size_t max_depth = 64;
};

/// Throws ValidationException with the position and the reason.
[[nodiscard]] ERRAND_EXPORT boost::json::value parse_json(std::string_view text,
                                                          const JsonLimits& limits = {});

/// Compact JSON text. Throws ValidationException for what JSON cannot hold (NaN, text that is not
/// UTF-8).
template <class T>
[[nodiscard]] std::string encode(const T& value) {
  return detail::to_text(detail::write_json(value));
}

/// Throws ValidationException naming the member: `items[2].price: expected a number, got "x"`.
template <class T>
[[nodiscard]] T decode(std::string_view text, const JsonLimits& limits = {}) {
  return detail::read_json<T>(parse_json(text, limits));
}

}  // namespace errand
