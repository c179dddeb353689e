#include "engine/redis/stream_bytes.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <openssl/evp.h>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "bus/messenger_table.hpp"
#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace errand::redis {
namespace {

namespace json = boost::json;

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  // One more byte is written, a NUL: std::string has room for that.
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

WireMessage whole(std::string_view bytes) {
  const bool is_text = detail::find_invalid_utf8(bytes) == std::string_view::npos &&
                       bytes.find('\0') == std::string_view::npos;
  if (is_text) return {.body = std::string{bytes}, .headers = {}};
  return {.body = base64(bytes), .headers = {{"X-Errand-Encoding", "base64"}}};
}

/// s:<bytes>:"<text>";
std::optional<std::string_view> php_string(std::string_view bytes) {
  constexpr std::string_view kBegin = "s:";
  constexpr std::string_view kEnd = "\";";
  if (!bytes.starts_with(kBegin) || !bytes.ends_with(kEnd)) return std::nullopt;
  std::size_t size = 0;
  const char* last = bytes.data() + bytes.size();
  const auto [after, error] = std::from_chars(bytes.data() + kBegin.size(), last, size);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest{after, static_cast<std::size_t>(last - after)};
  constexpr std::string_view kOpen = ":\"";
  if (!rest.starts_with(kOpen) || rest.size() - kOpen.size() != size + kEnd.size()) {
    return std::nullopt;
  }
  return rest.substr(kOpen.size(), size);
}

/// A version of four bytes, a kind that says how many bytes the size has, the size, the text.
std::optional<std::string_view> igbinary_string(std::string_view bytes) {
  constexpr std::string_view kVersion{"\0\0\0\2", 4};
  constexpr unsigned kOneByteSize = 0x11;
  constexpr unsigned kFourByteSize = 0x13;
  if (!bytes.starts_with(kVersion) || bytes.size() == kVersion.size()) return std::nullopt;
  bytes.remove_prefix(kVersion.size());
  const unsigned kind = static_cast<unsigned char>(bytes.front());
  if (kind < kOneByteSize || kind > kFourByteSize) return std::nullopt;
  bytes.remove_prefix(1);
  const std::size_t width = std::size_t{1} << (kind - kOneByteSize);
  if (bytes.size() < width) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < width; ++i) {
    size = size << 8U | static_cast<unsigned char>(bytes[i]);
  }
  bytes.remove_prefix(width);
  return bytes.size() == size ? std::optional{bytes} : std::nullopt;
}

}  // namespace

std::string write_message(const WireMessage& message, std::optional<std::string_view> uniqid) {
  std::string text;
  std::size_t size = message.body.size() + message.body.size() / 8 + 64;
  for (const auto& [name, value] : message.headers) size += name.size() + value.size() + 16;
  text.reserve(size);
  text += R"({"body":)";
  detail::append_json_utf8(text, message.body);
  text += R"(,"headers":)";
  if (message.headers.empty()) {
    text += "[]";  // PHP's empty array
  } else {
    char separator = '{';
    for (const auto& [name, value] : message.headers) {
      text += separator;
      separator = ',';
      detail::append_json_utf8(text, name);
      text += ':';
      detail::append_json_utf8(text, value);
    }
    text += '}';
  }
  if (uniqid) {
    text += R"(,"uniqid":)";
    detail::append_json_utf8(text, *uniqid);
  }
  text += '}';
  return text;
}

WireMessage read_message(std::string_view bytes) {
  bytes = without_php_serialization(bytes);
  try {
    const json::value value = parse_json(bytes);
    if (!value.is_object()) return whole(bytes);
    const json::value* body = value.get_object().if_contains("body");
    const json::value* headers = value.get_object().if_contains("headers");
    if (body == nullptr || headers == nullptr || !body->is_string()) return whole(bytes);
    WireMessage message{.body = std::string{body->get_string()}, .headers = {}};
    if (headers->is_array() && headers->get_array().empty()) return message;
    if (headers->is_object()) {
      for (const auto& [name, text] : headers->get_object()) {
        if (!text.is_string()) break;
        message.headers.emplace(name, std::string{text.get_string()});
      }
      if (message.headers.size() == headers->get_object().size()) return message;
    }
    message.headers = {{detail::kUnreadableHeaders, json::serialize(*headers)}};
    return message;
  } catch (const ValidationException&) {
    return whole(bytes);
  }
}

std::string_view without_php_serialization(std::string_view bytes) {
  if (const auto text = php_string(bytes)) return *text;
  return igbinary_string(bytes).value_or(bytes);
}

std::optional<StreamId> parse_stream_id(std::string_view text) {
  StreamId id;
  const char* end = text.data() + text.size();
  const auto [dash, error] = std::from_chars(text.data(), end, id.milliseconds);
  if (error != std::errc{} || id.milliseconds < 0 || dash == end || *dash != '-') {
    return std::nullopt;
  }
  const auto [last, number_error] = std::from_chars(dash + 1, end, id.number);
  if (number_error != std::errc{} || last != end) return std::nullopt;
  return id;
}

}  // namespace errand::redis
