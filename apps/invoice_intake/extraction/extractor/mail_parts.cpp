#include "invoice_intake/extraction/extractor/mail_parts.hpp"

#include <array>
#include <gmime/gmime.h>

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

template <class T>
struct UnrefObject {
  void operator()(T* object) const noexcept { g_object_unref(object); }
};
template <class T>
using Owned = std::unique_ptr<T, UnrefObject<T>>;

/// Chinese mail programs write names and subjects in raw GBK.
GMimeParserOptions* parser_options() {
  static GMimeParserOptions* const kOptions = [] {
    g_mime_init();
    GMimeParserOptions* options = g_mime_parser_options_new();
    std::array<const char*, 3> charsets{"utf-8", "gb18030", nullptr};
    g_mime_parser_options_set_fallback_charsets(options, charsets.data());
    return options;
  }();
  return kOptions;
}

std::optional<std::string> text_or_nothing(const char* text) {
  if (text == nullptr) return std::nullopt;
  std::string visible = visible_text(text);
  if (visible.empty()) return std::nullopt;
  return visible;
}

std::optional<std::string> addresses_of(InternetAddressList* list) {
  if (list == nullptr) return std::nullopt;
  char* text = internet_address_list_to_string(list, nullptr, FALSE);
  const auto result = text_or_nothing(text);
  g_free(text);
  return result;
}

bool is_body_text(GMimeObject* object, const char* name) {
  if (name != nullptr) return false;
  const char* disposition = g_mime_object_get_disposition(object);
  if (disposition != nullptr && g_ascii_strcasecmp(disposition, "attachment") == 0) return false;
  const GMimeContentType* type = g_mime_object_get_content_type(object);
  return g_mime_content_type_is_type(const_cast<GMimeContentType*>(type), "text", "plain") != 0 ||
         g_mime_content_type_is_type(const_cast<GMimeContentType*>(type), "text", "html") != 0;
}

/// Depth first, without recursion: how deep a message goes is the sender's choice.
struct Pending {
  GMimeObject* object;
  std::int64_t depth;
};

void visit_parts(GMimeObject* root, const std::function<bool(const Mail::Part&)>& visit) {
  std::vector<Pending> pending;
  if (root != nullptr) pending.push_back({root, 0});
  while (!pending.empty()) {
    const Pending next = pending.back();
    pending.pop_back();
    if (GMIME_IS_MULTIPART(next.object)) {
      GMimeMultipart* multipart = GMIME_MULTIPART(next.object);
      for (int i = g_mime_multipart_get_count(multipart); i > 0; --i) {
        pending.push_back({g_mime_multipart_get_part(multipart, i - 1), next.depth + 1});
      }
      continue;
    }
    Mail::Part part;
    part.depth = next.depth;
    if (GMIME_IS_MESSAGE_PART(next.object)) {
      part.message = g_mime_message_part_get_message(GMIME_MESSAGE_PART(next.object));
      if (part.message == nullptr) continue;
    } else if (GMIME_IS_PART(next.object)) {
      const char* name = g_mime_part_get_filename(GMIME_PART(next.object));
      part.name = name == nullptr ? "" : name;
      part.object = next.object;
      part.is_body = is_body_text(next.object, name);
    } else {
      continue;
    }
    if (!visit(part)) return;
  }
}

}  // namespace

void Mail::Unref::operator()(void* object) const noexcept { g_object_unref(object); }

std::optional<Mail> Mail::parse(std::string_view bytes) {
  GMimeParserOptions* options = parser_options();
  // The stream borrows the bytes; GMime copies nothing until a part is decoded.
  GByteArray* array = g_byte_array_new_take(
      reinterpret_cast<guint8*>(const_cast<char*>(bytes.data())), bytes.size());
  const Owned<GMimeStream> stream{g_mime_stream_mem_new()};
  g_mime_stream_mem_set_owner(GMIME_STREAM_MEM(stream.get()), FALSE);
  g_mime_stream_mem_set_byte_array(GMIME_STREAM_MEM(stream.get()), array);
  const Owned<GMimeParser> parser{g_mime_parser_new_with_stream(stream.get())};
  g_mime_parser_set_persist_stream(parser.get(), TRUE);
  GMimeMessage* message = g_mime_parser_construct_message(parser.get(), options);
  if (message == nullptr) return std::nullopt;
  return Mail{message};
}

MailHeaders Mail::headers() const {
  GMimeMessage* message = message_.get();
  MailHeaders headers;
  headers.message_id = text_or_nothing(g_mime_message_get_message_id(message));
  headers.from = addresses_of(g_mime_message_get_from(message));
  headers.to = addresses_of(g_mime_message_get_to(message));
  headers.subject = text_or_nothing(g_mime_message_get_subject(message));
  if (GDateTime* date = g_mime_message_get_date(message)) {
    GDateTime* utc = g_date_time_to_utc(date);
    char* text = utc == nullptr ? nullptr : g_date_time_format(utc, "%Y-%m-%dT%H:%M:%SZ");
    headers.date = text_or_nothing(text);
    g_free(text);
    if (utc != nullptr) g_date_time_unref(utc);
  }
  return headers;
}

void Mail::for_each_part(const std::function<bool(const Part&)>& visit) const {
  for_each_part_of(message_.get(), visit);
}

void Mail::for_each_part_of(GMimeMessage* message, const std::function<bool(const Part&)>& visit) {
  visit_parts(g_mime_message_get_mime_part(message), visit);
}

Unpacked Mail::contents(GMimeObject* object, std::int64_t most) {
  GMimeDataWrapper* wrapper = g_mime_part_get_content(GMIME_PART(object));
  if (wrapper == nullptr) return {};
  GMimeStream* encoded = g_mime_data_wrapper_get_stream(wrapper);
  if (encoded == nullptr) return {};
  g_mime_stream_reset(encoded);
  const Owned<GMimeStream> decoded{g_mime_stream_filter_new(encoded)};
  const Owned<GMimeFilter> decoder{
      g_mime_filter_basic_new(g_mime_data_wrapper_get_encoding(wrapper), FALSE)};
  g_mime_stream_filter_add(GMIME_STREAM_FILTER(decoded.get()), decoder.get());
  return unpack(most, [&](char* data, std::size_t size) {
    return g_mime_stream_read(decoded.get(), data, size);
  });
}

}  // namespace errand::invoices
