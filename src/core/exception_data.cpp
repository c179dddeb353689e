#include "errand/exception_data.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <tuple>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/exception_limits.hpp"
#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace errand {
namespace {

namespace json = boost::json;

void append_json(std::string& out, const ExceptionData& data, int levels_left) {
  const auto cut = [](const std::string& text) {
    return detail::repair_and_cut_utf8(text, detail::kMaxExceptionText);
  };
  detail::JsonObjectText object{out};
  object.add_string("class", cut(data.class_name));
  object.add_string("message", cut(data.message));
  object.add_number("code", data.code);
  object.add_string("file", cut(data.file));
  object.add_number("line", data.line);
  object.add_string("trace", cut(data.trace));
  if (data.previous == nullptr || levels_left == 0) {
    object.add_json("previous", "null");
  } else {
    object.add_json("previous", "");
    append_json(out, *data.previous, levels_left - 1);
  }
  object.close();
}

std::string string_or(const json::object& object, std::string_view name, std::string fallback) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return fallback;
  return detail::repair_and_cut_utf8(value->get_string(), detail::kMaxExceptionText);
}

std::int64_t integer_or_zero(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

constexpr const char* kUnknownClass = "unknown";

ExceptionData from_object(const json::object& object, int levels_left) {
  ExceptionData data;
  data.class_name = string_or(object, "class", kUnknownClass);
  data.message = string_or(object, "message", {});
  data.code = integer_or_zero(object, "code");
  data.file = string_or(object, "file", {});
  data.line = integer_or_zero(object, "line");
  data.trace = string_or(object, "trace", {});
  const json::value* previous = object.if_contains("previous");
  if (previous != nullptr && previous->is_object() && levels_left > 0) {
    data.previous =
        std::make_shared<const ExceptionData>(from_object(previous->get_object(), levels_left - 1));
  }
  return data;
}

}  // namespace

bool operator==(const ExceptionData& a, const ExceptionData& b) noexcept {
  const ExceptionData* left = &a;
  const ExceptionData* right = &b;
  const auto fields = [](const ExceptionData& data) {
    return std::tie(data.class_name, data.message, data.code, data.file, data.line, data.trace);
  };
  while (left != nullptr && right != nullptr && left != right) {
    if (fields(*left) != fields(*right)) return false;
    left = left->previous.get();
    right = right->previous.get();
  }
  return left == right;
}

std::string to_json(const ExceptionData& data) {
  std::string text;
  append_json(text, data, kMaxPreviousExceptions);
  return text;
}

ExceptionData parse_exception_data(std::string_view text) {
  try {
    json::monotonic_resource memory;
    const json::value value = parse_json(text, {}, &memory);
    const json::object* object = value.if_object();
    if (object != nullptr && (object->contains("class") || object->contains("message"))) {
      return from_object(*object, kMaxPreviousExceptions);
    }
  } catch (const ValidationException&) {
    // Not JSON: what there is to read is the text itself.
  }
  ExceptionData unknown;
  unknown.class_name = kUnknownClass;
  unknown.message = detail::repair_and_cut_utf8(text, detail::kMaxExceptionText);
  return unknown;
}

}  // namespace errand
