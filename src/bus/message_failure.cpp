#include "bus/message_failure.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "bus/symfony_stamps.hpp"

namespace errand::detail {
namespace {

namespace json = boost::json;

/// Everything known of the last error. Symfony's stamp has room for a FlattenException, but
/// whether the other side can read one depends on its serializer; a header of our own harms nobody.
constexpr const char* kErrorHeader = "X-Errand-Error";

std::string text_or_empty(const json::object& object, std::string_view name) {
  const json::value* member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string{member->get_string()} : "";
}

/// As PHP's DATE_RFC3339 has it.
std::string php_time(Timestamp now) {
  std::string text = to_iso8601(std::chrono::floor<std::chrono::seconds>(now));
  text.replace(text.size() - 1, 1, "+00:00");
  return text;
}

std::optional<ExceptionData> noted_by_stamp(const Headers& headers) {
  const std::optional<json::object> stamp = last_stamp(headers, kErrorDetailsStamp);
  if (!stamp) return std::nullopt;
  ExceptionData error;
  error.class_name = text_or_empty(*stamp, "exceptionClass");
  error.message = text_or_empty(*stamp, "exceptionMessage");
  const json::value* code = stamp->if_contains("exceptionCode");
  if (code != nullptr && code->is_int64()) error.code = code->get_int64();
  return error;
}

bool is_same_error(const ExceptionData& a, const ExceptionData& b) {
  return a.class_name == b.class_name && a.message == b.message && a.code == b.code;
}

void note_error(Headers& headers, const ExceptionData& error) {
  headers.insert_or_assign(kErrorHeader, to_json(error));
  const std::optional<ExceptionData> last = noted_by_stamp(headers);
  if (last && is_same_error(*last, error)) return;
  add_stamp(headers, kErrorDetailsStamp,
            {{"exceptionClass", error.class_name},
             {"exceptionCode", error.code},
             {"exceptionMessage", error.message},
             {"flattenException", nullptr}});
  cut_stamps(headers, kErrorDetailsStamp);
}

void note_redelivery(Headers& headers, int retry_count, std::chrono::milliseconds delay,
                     Timestamp now) {
  add_stamp(headers, kDelayStamp, {{"delay", delay.count()}});
  add_stamp(headers, kRedeliveryStamp,
            {{"retryCount", retry_count}, {"redeliveredAt", php_time(now)}});
  cut_stamps(headers, kDelayStamp);
  cut_stamps(headers, kRedeliveryStamp);
}

}  // namespace

Outgoing retry_of(const WireMessage& message, std::string_view id, const ExceptionData& error,
                  std::chrono::milliseconds delay, Timestamp now) {
  Outgoing retry{.message = message, .delay = delay};
  Headers& headers = retry.message.headers;
  note_message_id(headers, id);
  note_error(headers, error);
  note_redelivery(headers, retry_count(message.headers) + 1, delay, now);
  return retry;
}

Outgoing dead_letter_of(const WireMessage& message, std::string_view id, const ExceptionData& error,
                        std::string_view from, Timestamp now) {
  Outgoing letter{.message = message};
  Headers& headers = letter.message.headers;
  set_bad_stamps_aside(headers);
  note_message_id(headers, id);
  note_error(headers, error);
  add_stamp(headers, kSentToFailureStamp, {{"originalReceiverName", from}});
  note_redelivery(headers, 0, std::chrono::milliseconds{0}, now);
  return letter;
}

Outgoing second_chance_of(const WireMessage& message) {
  Outgoing chance{.message = message};
  for (const char* stamp : {kSentToFailureStamp, kDelayStamp, kRedeliveryStamp}) {
    chance.message.headers.erase(stamp);
  }
  return chance;
}

std::optional<std::string> failed_in(const WireMessage& message) {
  const std::optional<json::object> stamp = last_stamp(message.headers, kSentToFailureStamp);
  if (!stamp) return std::nullopt;
  std::string name = text_or_empty(*stamp, "originalReceiverName");
  if (name.empty()) return std::nullopt;
  return name;
}

std::optional<ExceptionData> last_error(const WireMessage& message) {
  std::optional<ExceptionData> noted = noted_by_stamp(message.headers);
  const auto own = message.headers.find(kErrorHeader);
  if (own == message.headers.end()) return noted;
  ExceptionData error = parse_exception_data(own->second);
  // PHP may have tried it since, and failed otherwise.
  if (noted && !is_same_error(*noted, error)) return noted;
  return error;
}

}  // namespace errand::detail
