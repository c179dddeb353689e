#include "http/submit_body.hpp"

#include <algorithm>
#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <fmt/format.h>
#include <openssl/sha.h>
#include <set>
#include <unordered_set>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/document_rules.hpp"
#include "core/json_kind.hpp"
#include "core/traceparent.hpp"
#include "core/utf8.hpp"
#include "http/json_members.hpp"
#include "http/problem.hpp"
#include "terminal/duration.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

constexpr std::size_t kShown = 64;
constexpr std::size_t kLongestKey = 200;

/// Of a JSON pointer, RFC 6901.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return detail::repair_and_cut_utf8(text, kShown);
}

Problem bad_member(std::string_view name, const std::string& detail) {
  return Problem{422, fmt::format("'{}' {}", detail::repair_and_cut_utf8(name, kShown), detail)}
      .at_pointer("/" + escaped(name));
}

std::string text_of(std::string_view name, const json::value& value) {
  if (!value.is_string()) {
    throw bad_member(name, "must be a string, and is " + detail::kind_with_article(value));
  }
  return std::string{value.get_string()};
}

/// What names a type or a queue.
std::string label_of(std::string_view name, const json::value& value) {
  std::string text = text_of(name, value);
  try {
    detail::check_label(name, text);
  } catch (const ValidationException& error) {
    throw Problem{422, error.what()}.at_pointer("/" + std::string{name});
  }
  return text;
}

std::int64_t integer_of(std::string_view name, const json::value& value, std::int64_t least,
                        std::int64_t most) {
  boost::system::error_code inexact;
  const auto number = value.is_number() ? value.to_number<std::int64_t>(inexact) : least - 1;
  if (inexact || number < least || number > most) {
    throw bad_member(name, fmt::format("must be a whole number from {} to {}", least, most));
  }
  return number;
}

double number_of(std::string_view name, const json::value& value) {
  if (!value.is_number()) {
    throw bad_member(name, "must be a number, and is " + detail::kind_with_article(value));
  }
  return value.to_number<double>();
}

std::chrono::milliseconds duration_of(std::string_view name, const json::value& value) {
  constexpr double kLongestSeconds = 100.0 * 365 * 24 * 60 * 60;
  if (value.is_number()) {
    const double seconds = value.to_number<double>();
    if (!(seconds >= 0 && seconds <= kLongestSeconds)) {
      throw bad_member(name, "must not be negative, nor longer than 100 years");
    }
    return std::chrono::milliseconds{std::llround(seconds * 1000)};
  }
  try {
    return terminal::parse_duration(detail::repair_and_cut_utf8(text_of(name, value), kShown));
  } catch (const ValidationException& error) {
    throw bad_member(name, std::string{"is wrong: "} + error.what());
  }
}

Headers headers_of(std::string_view name, const json::value& value) {
  if (!value.is_object()) {
    throw bad_member(name,
                     "must be an object of strings, and is " + detail::kind_with_article(value));
  }
  Headers headers;
  for (const json::key_value_pair& header : value.get_object()) {
    if (!header.value().is_string()) {
      throw bad_member(
          name, "must hold strings only, and has " + detail::kind_with_article(header.value()))
          .at_pointer(fmt::format("/{}/{}", name, escaped(header.key())));
    }
    headers.emplace(header.key(), header.value().get_string());
  }
  return headers;
}

Timestamp moment_of(std::string_view name, const json::value& value) {
  const std::string text = text_of(name, value);
  const std::optional<Timestamp> time = parse_iso8601(text);
  if (!time) {
    throw bad_member(name,
                     "must be a moment in ISO 8601 with Z or an offset, such as "
                     "2026-12-24T18:00:00Z, and is '" +
                         detail::repair_and_cut_utf8(text, kShown) + "'");
  }
  return *time;
}

/// The members of one task, gathered until all are known.
struct Draft {
  std::optional<std::string> type{};
  std::string payload = "{}";
  Headers headers{};
  std::optional<TaskId> id{};
  NewTask rest{.envelope = Envelope{"", ""}};
  std::optional<Timestamp> at{};
  bool has_delay = false;

  void read(std::string_view name, const json::value& value) {
    if (name == "payload") return;
    if (name == "type") {
      type = label_of(name, value);
    } else if (name == "queue") {
      rest.queue = label_of(name, value);
    } else if (name == "delay") {
      rest.delay = duration_of(name, value);
      has_delay = true;
    } else if (name == "at") {
      at = moment_of(name, value);
    } else if (name == "priority") {
      rest.priority = static_cast<int>(integer_of(name, value, -32768, 32767));
    } else if (name == "maxRetries") {
      rest.retry.max_retries = static_cast<int>(integer_of(name, value, 0, 1'000'000));
    } else if (name == "retryDelay") {
      rest.retry.delay = duration_of(name, value);
    } else if (name == "retryMultiplier") {
      rest.retry.multiplier = number_of(name, value);
    } else if (name == "retryMaxDelay") {
      rest.retry.max_delay = duration_of(name, value);
    } else if (name == "retryJitter") {
      rest.retry.jitter = number_of(name, value);
    } else if (name == "headers") {
      headers = headers_of(name, value);
    } else if (name == "taskId") {
      const std::string text = text_of(name, value);
      id = TaskId::parse(text);
      if (!id) {
        throw bad_member(name, "must be a UUID of version 4, and is '" +
                                   detail::repair_and_cut_utf8(text, kShown) + "'");
      }
    } else {
      throw bad_member(name,
                       "is not known here; a task has type, payload, queue, delay, at, priority, "
                       "maxRetries, retryDelay, retryMultiplier, retryMaxDelay, retryJitter, "
                       "headers, taskId");
    }
  }
};

/// What clients call the rules of validate(NewTask) by.
[[noreturn]] void refuse(const ValidationException& error) { throw Problem{422, error.what()}; }

RequestedTask task_from(std::string_view text, std::string_view traceparent) {
  Draft draft;
  try {
    json::monotonic_resource memory;
    const json::value value =
        parse_json(text, {.max_bytes = kMaxDocumentBytes, .max_depth = 65}, &memory);
    if (!value.is_object()) {
      throw Problem{422,
                    "a task must be a JSON object such as {\"type\":\"email.send\","
                    "\"payload\":{}}, and this is " +
                        detail::kind_with_article(value)}
          .at_pointer("");
    }
    for (const json::key_value_pair& member : value.get_object()) {
      draft.read(member.key(), member.value());
    }
  } catch (const ValidationException& error) {
    throw Problem{400, error.what()};
  }
  std::set<std::string> names;
  for (const JsonMember& member : members_of(text)) {
    if (!names.insert(member.name).second) {
      throw Problem{
          400, fmt::format("'{}' is there twice", detail::repair_and_cut_utf8(member.name, kShown))}
          .at_pointer("/" + escaped(member.name));
    }
    if (member.name == "payload") draft.payload = member.value;
  }
  if (!draft.type) throw bad_member("type", "is missing: the name workers know, as email.send");
  if (draft.at && draft.has_delay) throw bad_member("at", "and 'delay' exclude each other");
  if (detail::is_traceparent(traceparent)) {
    draft.headers.emplace(detail::kTraceparent, traceparent);
  }
  RequestedTask requested{.task = std::move(draft.rest), .at = draft.at};
  requested.task.envelope =
      Envelope{*std::move(draft.type), std::move(draft.payload), std::move(draft.headers)};
  if (draft.id) {
    requested.task.id = *draft.id;
    requested.has_own_id = true;
  }
  try {
    validate(requested.task);
  } catch (const ValidationException& error) {
    refuse(error);
  }
  return requested;
}

/// The id that stands for a key: random bits made from it, so that whoever repeats the key, on
/// whichever server, names the same task.
TaskId id_of_key(std::string_view key, std::size_t line) {
  const std::string text = fmt::format("errand idempotency key {}\n{}", line, key);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<std::uint8_t, 16> bytes{};
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0fU) | 0x40U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3fU) | 0x80U);
  return *TaskId::from_bytes(bytes);
}

void apply_key(RequestedTask& requested, std::string_view key, std::size_t line) {
  if (key.empty()) return;  // request_of() refuses one that was sent
  if (key.size() > kLongestKey ||
      !std::ranges::all_of(key, [](char c) { return c >= 0x20 && c < 0x7f; })) {
    throw Problem{400, "the Idempotency-Key must be 1 to 200 printable ASCII characters"};
  }
  if (requested.has_own_id) {
    throw bad_member("taskId", "and the header Idempotency-Key exclude each other");
  }
  requested.task.id = id_of_key(key, line);
  requested.has_own_id = true;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

RequestedTask requested_task(const Request& request) {
  RequestedTask requested = task_from(request.body, request.headers.traceparent);
  apply_key(requested, request.headers.idempotency_key, 0);
  return requested;
}

std::vector<RequestedTask> requested_tasks(const Request& request) {
  std::vector<RequestedTask> tasks;
  std::unordered_set<TaskId> ids;
  const std::string_view body = request.body;
  std::size_t begin = 0;
  for (std::size_t number = 1; begin < body.size(); ++number) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    const std::string_view line = body.substr(begin, end - begin);
    begin = end + 1;
    if (is_blank(line)) continue;
    try {
      if (tasks.size() == kMaxLines) {
        throw Problem{413, "more than 10,000 tasks at once: send the others in another request"};
      }
      tasks.push_back(task_from(line, request.headers.traceparent));
      tasks.back().line = static_cast<std::int64_t>(number);
      apply_key(tasks.back(), request.headers.idempotency_key, number);
      if (tasks.back().has_own_id && !ids.insert(tasks.back().task.id).second) {
        throw bad_member("taskId", "is that of an earlier line, too");
      }
    } catch (Problem& problem) {
      throw std::move(problem).at_line(static_cast<std::int64_t>(number));
    }
  }
  if (tasks.empty()) throw Problem{422, "there is no task: send one JSON object a line"};
  return tasks;
}

void delay_until_due(RequestedTask& requested, Timestamp now) {
  if (!requested.at) return;
  requested.task.delay = std::max(std::chrono::ceil<std::chrono::milliseconds>(*requested.at - now),
                                  std::chrono::milliseconds{0});
}

}  // namespace errand::http
