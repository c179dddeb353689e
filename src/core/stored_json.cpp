#include "core/stored_json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/utf8.hpp"

namespace errand::detail {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

/// Empty for what is none.
json::object parse_object(const std::string& text) {
  try {
    json::value value = parse_json(text);
    if (value.is_object()) return std::move(value.get_object());
  } catch (const ValidationException&) {
  }
  return {};
}

/// What is missing, of another kind or out of range counts as not said.
template <class Number>
Number number_or(const json::object& object, std::string_view name, Number fallback) {
  const json::value* member = object.if_contains(name);
  if (member == nullptr) return fallback;
  boost::system::error_code error;
  const auto number = member->to_number<Number>(error);
  return error ? fallback : number;
}

}  // namespace

std::optional<std::string> retry_policy_json(const RetryPolicy& policy) {
  RetryPolicy defaults;
  defaults.max_retries = policy.max_retries;
  if (policy == defaults) return std::nullopt;
  return json::serialize(json::object{{"delay_ms", policy.delay.count()},
                                      {"multiplier", policy.multiplier},
                                      {"max_delay_ms", policy.max_delay.count()},
                                      {"jitter", policy.jitter}});
}

RetryPolicy read_retry_policy(int max_retries, const std::optional<std::string>& text) {
  RetryPolicy policy;
  policy.max_retries = max_retries;
  if (!text) return policy;
  const json::object object = parse_object(*text);
  policy.delay = milliseconds{number_or(object, "delay_ms", policy.delay.count())};
  policy.multiplier = number_or(object, "multiplier", policy.multiplier);
  policy.max_delay = milliseconds{number_or(object, "max_delay_ms", policy.max_delay.count())};
  policy.jitter = number_or(object, "jitter", policy.jitter);
  return policy;
}

std::optional<std::string> headers_json(const Headers& headers) {
  if (headers.empty()) return std::nullopt;
  json::object object;
  for (const auto& [name, value] : headers) object[name] = value;
  return json::serialize(object);
}

Headers read_headers(const std::optional<std::string>& text) {
  Headers headers;
  if (!text) return headers;
  for (const auto& [name, value] : parse_object(*text)) {
    headers.emplace(name,
                    value.is_string() ? std::string{value.get_string()} : json::serialize(value));
  }
  return headers;
}

std::string progress_json(const Progress& progress) {
  return json::serialize(json::object{
      {"done", progress.done}, {"total", progress.total}, {"note", repair_utf8(progress.note)}});
}

std::optional<Progress> read_progress(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const json::object object = parse_object(*text);
  Progress progress{
      number_or(object, "done", std::int64_t{0}), number_or(object, "total", std::int64_t{0}), {}};
  if (const json::value* note = object.if_contains("note"); note != nullptr && note->is_string()) {
    progress.note = std::string{note->get_string()};
  }
  return progress;
}

}  // namespace errand::detail
