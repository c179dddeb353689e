#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <system_error>

#include "errand/codec.hpp"
#include "errand/errors.hpp"

#include "core/json_kind.hpp"
#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace errand::detail {
namespace {

namespace json = boost::json;

[[noreturn]] void refuse_kind(const JsonPath& path, const char* expected,
                              const json::value& value) {
  refuse_json(path, std::string{"expected "} + expected + ", got " + kind_with_article(value));
}

template <class Integer>
void append_integer(std::string& out, Integer value) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  out.append(digits, end);
}

}  // namespace

std::size_t JsonPath::depth() const noexcept {
  std::size_t depth = 0;
  for (const JsonPath* step = parent_; step != nullptr; step = step->parent_) ++depth;
  return depth;
}

std::string JsonPath::to_string() const {
  if (parent_ == nullptr) return {};
  std::string text = parent_->to_string();
  if (is_index_) return text + "[" + std::to_string(index_) + "]";
  if (!text.empty()) text += '.';
  constexpr std::size_t kShown = 64;
  return text + repair_and_cut_utf8(member_, kShown);
}

void refuse_json(const JsonPath& path, std::string_view reason) {
  std::string message = path.to_string();
  if (!message.empty()) message += ": ";
  throw ValidationException{message.append(reason)};
}

bool read_bool(const json::value& value, const JsonPath& path) {
  if (!value.is_bool()) refuse_kind(path, "a bool", value);
  return value.get_bool();
}

std::int64_t read_signed(const json::value& value, const JsonPath& path, std::int64_t min,
                         std::int64_t max) {
  if (!value.is_int64() && !value.is_uint64()) refuse_kind(path, "an integer", value);
  if (value.is_uint64() || value.get_int64() < min || value.get_int64() > max) {
    refuse_json(path, "expected an integer from " + std::to_string(min) + " to " +
                          std::to_string(max) + ", got one outside");
  }
  return value.get_int64();
}

std::uint64_t read_unsigned(const json::value& value, const JsonPath& path, std::uint64_t max) {
  if (!value.is_int64() && !value.is_uint64()) refuse_kind(path, "an integer", value);
  const bool negative = value.is_int64() && value.get_int64() < 0;
  const std::uint64_t number =
      value.is_uint64() ? value.get_uint64() : static_cast<std::uint64_t>(value.get_int64());
  if (negative || number > max) {
    refuse_json(path, "expected an integer from 0 to " + std::to_string(max) + ", got one outside");
  }
  return number;
}

double read_double(const json::value& value, const JsonPath& path, double max) {
  if (!value.is_number()) refuse_kind(path, "a number", value);
  const double number = value.is_double()   ? value.get_double()
                        : value.is_uint64() ? static_cast<double>(value.get_uint64())
                                            : static_cast<double>(value.get_int64());
  if (std::abs(number) > max) refuse_json(path, "expected a smaller number");
  return number;
}

const json::string& read_string(const json::value& value, const JsonPath& path) {
  if (!value.is_string()) refuse_kind(path, "a string", value);
  return value.get_string();
}

const json::array& read_array(const json::value& value, const JsonPath& path) {
  if (!value.is_array()) refuse_kind(path, "an array", value);
  return value.get_array();
}

const json::object& read_object(const json::value& value, const JsonPath& path) {
  if (!value.is_object()) refuse_kind(path, "an object", value);
  return value.get_object();
}

void write_signed(std::string& out, std::int64_t value) { append_integer(out, value); }

void write_unsigned(std::string& out, std::uint64_t value) { append_integer(out, value); }

void write_double(std::string& out, double value, const JsonPath& path) {
  if (!std::isfinite(value)) refuse_json(path, "JSON has no NaN and no infinity");
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  const std::string_view text{digits, static_cast<std::size_t>(end - digits)};
  out.append(text);
  // Without it a reader would take it for an integer.
  if (text.find_first_of(".e") == std::string_view::npos) out.append(".0");
}

void write_string(std::string& out, std::string_view value, const JsonPath& path) {
  const std::size_t bad = find_invalid_utf8(value);
  if (bad != std::string_view::npos) {
    refuse_json(path, "must be UTF-8, and is not at byte " + std::to_string(bad));
  }
  append_json_utf8(out, value);
}

void check_depth(const JsonPath& path) {
  constexpr std::size_t kMaxDepth = JsonLimits{}.max_depth;
  if (path.depth() >= kMaxDepth) {
    refuse_json(path, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
  }
}

void write_value(std::string& out, const json::value& value, const JsonPath& path) {
  switch (value.kind()) {
    case json::kind::null:
      out.append("null");
      return;
    case json::kind::bool_:
      return write_json(out, value.get_bool(), path);
    case json::kind::int64:
      return write_signed(out, value.get_int64());
    case json::kind::uint64:
      return write_unsigned(out, value.get_uint64());
    case json::kind::double_:
      return write_double(out, value.get_double(), path);
    case json::kind::string:
      return write_string(out, value.get_string(), path);
    case json::kind::array: {
      check_depth(path);
      char separator = '[';
      std::size_t index = 0;
      for (const json::value& element : value.get_array()) {
        out.push_back(separator);
        separator = ',';
        write_value(out, element, JsonPath{path, index++});
      }
      out.append(separator == '[' ? "[]" : "]");
      return;
    }
    case json::kind::object: {
      check_depth(path);
      char separator = '{';
      for (const json::key_value_pair& member : value.get_object()) {
        out.push_back(separator);
        separator = ',';
        const JsonPath member_path{path, member.key()};
        write_string(out, member.key(), member_path);
        out.push_back(':');
        write_value(out, member.value(), member_path);
      }
      out.append(separator == '{' ? "{}" : "}");
      return;
    }
  }
}

}  // namespace errand::detail
