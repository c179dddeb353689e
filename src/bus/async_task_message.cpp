#include "bus/async_task_message.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/json_kind.hpp"

namespace errand::detail {
namespace {

namespace json = boost::json;

constexpr std::string_view kClass = "AsyncTaskMessage";

[[noreturn]] void refuse(const std::string& what) {
  throw UnreadableMessage{"the AsyncTaskMessage " + what};
}

TaskId read_id(const json::object& message) {
  const json::value* id = message.if_contains("taskId");
  if (id == nullptr || !id->is_string()) refuse("has no taskId");
  const auto parsed = TaskId::parse(id->get_string());
  if (!parsed) refuse("has a taskId that is no UUID of version 4: " + json::serialize(*id));
  return *parsed;
}

/// Serializers that know only `object` write the payload as a text of JSON.
json::value read_payload(const json::object& message) {
  const json::value* payload = message.if_contains("payload");
  if (payload == nullptr || payload->is_null()) refuse("has no payload");
  if (!payload->is_string()) return *payload;
  try {
    return parse_json(payload->get_string());
  } catch (const ValidationException& error) {
    refuse(std::string{"has a payload that is no JSON: "} + error.what());
  }
}

std::string read_class(const json::object& message, const json::value& payload) {
  if (const json::value* name = message.if_contains("payloadClass")) {
    if (!name->is_string()) refuse("has a payloadClass that is " + kind_with_article(*name));
    return std::string{name->get_string()};
  }
  const json::value* type =
      payload.is_object() ? payload.get_object().if_contains("type") : nullptr;
  if (type == nullptr || !type->is_string()) {
    refuse(
        "does not say what its payload is; name the class in payloadClass beside it, or in a "
        "property `type` of it");
  }
  return std::string{type->get_string()};
}

}  // namespace

bool is_async_task(std::string_view type) {
  if (!type.ends_with(kClass)) return false;
  type.remove_suffix(kClass.size());
  return type.empty() || type.ends_with('\\');
}

NewTask read_async_task(const Envelope& envelope, const SymfonySerializer& serializer) {
  const json::value body = parse_json(envelope.body());
  if (!body.is_object()) refuse("is " + kind_with_article(body) + ", not an object");
  const json::object& message = body.get_object();
  const json::value payload = read_payload(message);
  NewTask task{.id = read_id(message),
               .envelope = Envelope{serializer.type_for(read_class(message, payload)),
                                    json::serialize(payload)}};
  try {
    validate(task);
  } catch (const ValidationException& error) {
    refuse(std::string{"cannot become a task: "} + error.what());
  }
  return task;
}

}  // namespace errand::detail
