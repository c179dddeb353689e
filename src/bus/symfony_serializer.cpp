#include "bus/symfony_serializer.hpp"

#include <utility>

#include "errand/json.hpp"

#include "bus/messenger_table.hpp"
#include "bus/php_serialized.hpp"
#include "bus/symfony_stamps.hpp"
#include "core/document_rules.hpp"

namespace errand::detail {
namespace {

constexpr const char* kType = "type";
constexpr const char* kContentType = "Content-Type";

/// `\App\Message` and `App\Message` are one class.
std::string_view without_leading_backslash(std::string_view class_name) {
  if (class_name.starts_with('\\')) class_name.remove_prefix(1);
  return class_name;
}

UnreadableMessage in_php_serialization(const std::string& body) {
  const std::string class_name = php_message_class(body).value_or("a class that cannot be read");
  return UnreadableMessage{
      "the body is in PHP's own serialization (" + class_name +
      "), which only PHP can read; let the PHP application send this type with the serializer "
      "messenger.transport.symfony_serializer"};
}

}  // namespace

void SymfonySerializer::add(const std::string& type, const std::string& class_name) {
  const std::string name{without_leading_backslash(class_name)};
  const auto by_type = classes_.find(type);
  const auto by_class = types_.find(name);
  if ((by_type != classes_.end() && by_type->second != name) ||
      (by_class != types_.end() && by_class->second != type)) {
    throw ConfigurationException{"type " + type + " and class " + name +
                                 " cannot be one: one of them has another partner already"};
  }
  classes_[type] = name;
  types_[name] = type;
}

std::string SymfonySerializer::type_for(std::string_view class_name) const {
  class_name = without_leading_backslash(class_name);
  const auto known = types_.find(class_name);
  return known != types_.end() ? known->second : std::string{class_name};
}

std::vector<std::string> SymfonySerializer::names_of(const std::string& type) const {
  if (const auto known = classes_.find(type); known != classes_.end()) return {type, known->second};
  if (const auto known = types_.find(type); known != types_.end()) return {type, known->second};
  return {type};
}

Envelope SymfonySerializer::read(const WireMessage& message) const {
  if (looks_php_serialized(message.body)) throw in_php_serialization(message.body);
  if (const auto raw = message.headers.find(kUnreadableHeaders); raw != message.headers.end()) {
    throw UnreadableMessage{"the headers are not a JSON object of texts"};
  }
  const auto type = message.headers.find(kType);
  if (type == message.headers.end()) throw UnreadableMessage{"there is no header `type`"};
  try {
    check_label("the header `type`", type->second);
  } catch (const ValidationException& error) {
    throw UnreadableMessage{error.what()};
  }
  const auto content = message.headers.find(kContentType);
  if (content != message.headers.end() && !content->second.starts_with("application/json")) {
    throw UnreadableMessage{"the Content-Type is " + content->second + ", not application/json"};
  }
  if (const auto bad = find_bad_stamp(message.headers)) {
    throw UnreadableMessage{"the header " + *bad + " is not a JSON array of objects"};
  }
  try {
    static_cast<void>(parse_json(message.body));
  } catch (const ValidationException& error) {
    throw UnreadableMessage{std::string{"the body: "} + error.what()};
  }
  Headers headers = message.headers;
  headers.erase(kType);
  headers.erase(kContentType);
  return Envelope{type_for(type->second), message.body, std::move(headers)};
}

WireMessage SymfonySerializer::write(const Envelope& envelope) const {
  const auto known = classes_.find(envelope.type());
  WireMessage message{.body = envelope.body(), .headers = envelope.headers()};
  message.headers.insert_or_assign(kType,
                                   known != classes_.end() ? known->second : envelope.type());
  message.headers.insert_or_assign(kContentType, "application/json");
  return message;
}

std::string SymfonySerializer::type_of(const WireMessage& message) const {
  if (looks_php_serialized(message.body)) {
    return type_for(php_message_class(message.body).value_or(""));
  }
  const auto type = message.headers.find(kType);
  return type == message.headers.end() ? "" : type_for(type->second);
}

}  // namespace errand::detail
