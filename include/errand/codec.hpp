#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "errand/detail/json_reader.hpp"
#include "errand/detail/json_writer.hpp"
#include "errand/json.hpp"

/// Messages and results as JSON.
///
/// Understood: bool, integers, floating point, std::string, std::optional, std::vector,
/// std::map<std::string, T>, enums and structs described by Boost.Describe, boost::json::value,
/// and these inside each other. For a struct: members missing in the JSON must be std::optional,
/// members unknown to the struct are ignored, so that old and new programs can talk.
namespace errand {

/// Compact JSON text. Throws ValidationException for what JSON cannot hold (NaN, text that is not
/// UTF-8) and for what is nested deeper than JsonLimits lets it be read.
template <class T>
[[nodiscard]] std::string encode(const T& value) {
  std::string text;
  detail::write_json(text, value);
  return text;
}

/// Throws ValidationException naming the member: `items[2].price: expected a number, got a string`.
template <class T>
[[nodiscard]] T decode(std::string_view text, const JsonLimits& limits = {}) {
  if constexpr (std::is_same_v<T, boost::json::value>) {
    return parse_json(text, limits);
  } else {
    unsigned char buffer[2048];
    boost::json::monotonic_resource memory{buffer, sizeof buffer};
    return detail::read_json<T>(parse_json(text, limits, &memory));
  }
}

}  // namespace errand
