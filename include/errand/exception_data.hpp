#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "errand/export.hpp"

namespace errand {

/// A failure as data: what a worker stores and any process, in any language, can read.
struct ERRAND_EXPORT ExceptionData {
  std::string class_name;  ///< the type thrown; JSON key `class`
  std::string message{};
  std::int64_t code = 0;  ///< std::system_error's value, or 0
  std::string file;       ///< where it was thrown; empty if unknown
  std::int64_t line = 0;
  std::string trace;  ///< one frame a line, innermost first; empty if unknown
  std::shared_ptr<const ExceptionData> previous{};  ///< what it was nested in, or null

  /// Deep: two equal chains are equal.
  friend ERRAND_EXPORT bool operator==(const ExceptionData& a, const ExceptionData& b) noexcept;
};

/// Chains longer than this are cut, in both directions: the bytes may come from anybody.
inline constexpr int kMaxPreviousExceptions = 16;

/// The JSON object with the keys class, message, code, file, line, trace, previous (or null).
[[nodiscard]] ERRAND_EXPORT std::string to_json(const ExceptionData& data);

/// Reads to_json()'s form. Missing members take their defaults, the class `unknown`, so that other
/// writers' errors can be read; text that is not such an object becomes the message of class
/// `unknown`. Never throws.
[[nodiscard]] ERRAND_EXPORT ExceptionData parse_exception_data(std::string_view json);

/// Describes anything thrown: std::exception with its std::nested_exception chain, strings,
/// numbers, and values of unknown type by the name of that type. `error` must not be null. File,
/// line and trace stay empty; whoever saw the throw adds them.
[[nodiscard]] ERRAND_EXPORT ExceptionData describe_exception(const std::exception_ptr& error);

/// The name of a type as ExceptionData::class_name shows it.
[[nodiscard]] ERRAND_EXPORT std::string readable_type_name(const std::type_info& type);

}  // namespace errand
