#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/utf8.hpp"

namespace errand {
namespace {

namespace json = boost::json;

/// Builds the value as Boost.JSON's own parser does, but for numbers with a fraction or exponent:
/// that one is off by a bit for many of them and makes infinity of the biggest.
struct ValueBuilder {
  // NOLINTBEGIN(readability-identifier-naming): Boost.JSON asks for these names
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();
  // NOLINTEND(readability-identifier-naming)

  explicit ValueBuilder(unsigned char* buffer, std::size_t size)
      : stack{json::storage_ptr{}, buffer, size} {}

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(std::size_t members, json::error_code&) {
    stack.push_object(members);
    return true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t elements, json::error_code&) {
    stack.push_array(elements);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_key(json::string_view rest, std::size_t, json::error_code&) {
    stack.push_key(rest);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_string(json::string_view rest, std::size_t, json::error_code&) {
    stack.push_string(rest);
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, json::error_code&) {
    stack.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, json::error_code&) {
    stack.push_uint64(number);
    return true;
  }
  bool on_double(double nearly, json::string_view text, json::error_code& error) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc::result_out_of_range) {
      if (std::abs(nearly) > 1) {
        error = json::error::exponent_overflow;
        return false;
      }
      number = nearly;
    }
    stack.push_double(number);
    return true;
  }
  bool on_bool(bool value, json::error_code&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(json::error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

  json::value_stack stack;
};

std::string what_is_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return "the text ends too early";
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte < 0x20) return "a control character that is not escaped";
  if (detail::find_invalid_utf8(text.substr(offset, 4)) == 0) return "a byte that is not UTF-8";
  constexpr std::size_t kShown = 16;
  return "unexpected text: " + detail::repair_and_cut_utf8(text.substr(offset), kShown);
}

[[noreturn]] void refuse(std::string_view text, std::size_t offset, const std::string& reason) {
  if (text.empty()) throw ValidationException{"not JSON: the text is empty"};
  throw ValidationException{"not JSON at byte " + std::to_string(offset) + ": " + reason};
}

/// `offset`: somewhere in the number, or behind it.
[[noreturn]] void refuse_number(std::string_view text, std::size_t offset) {
  constexpr std::string_view kOfNumbers = "+-.0123456789Ee";
  constexpr std::size_t kShown = 16;
  const std::size_t before = text.substr(0, offset).find_last_not_of(kOfNumbers);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = text.find_first_not_of(kOfNumbers, begin);
  throw ValidationException{"number out of range at byte " + std::to_string(begin) +
                            ": a double cannot hold " +
                            detail::repair_and_cut_utf8(text.substr(begin, end - begin), kShown)};
}

}  // namespace

json::value parse_json(std::string_view text, const JsonLimits& limits, json::storage_ptr storage) {
  if (text.size() > limits.max_bytes) {
    throw ValidationException{"the JSON text has " + std::to_string(text.size()) +
                              " bytes; at most " + std::to_string(limits.max_bytes) +
                              " are allowed"};
  }
  json::parse_options options;
  options.max_depth = limits.max_depth;
  unsigned char buffer[4096];
  json::basic_parser<ValueBuilder> parser{options, buffer, sizeof buffer};
  json::value_stack& stack = parser.handler().stack;
  stack.reset(std::move(storage));

  json::error_code error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (error == json::error::too_deep) {
    throw ValidationException{"nested deeper than " + std::to_string(limits.max_depth) +
                              " levels at byte " + std::to_string(used)};
  }
  if (error == json::error::exponent_overflow) refuse_number(text, used);
  if (error) refuse(text, used, what_is_at(text, used));
  if (used < text.size()) refuse(text, used, "more text behind the document");
  return stack.release();
}

}  // namespace errand
