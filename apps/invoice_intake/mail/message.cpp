#include "invoice_intake/mail/message.hpp"

#include <algorithm>
#include <array>
#include <gmime/gmime.h>
#include <memory>
#include <mutex>

#include "errand/errors.hpp"

#include "invoice_intake/mail/parseable_part.hpp"
#include "invoice_intake/model/stored_text.hpp"

namespace errand::invoices {
namespace {

// Of the columns that hold them.
constexpr std::size_t kLongestMessageId = 200;
constexpr std::size_t kLongestAddress = 200;
constexpr std::size_t kLongestSubject = 500;
constexpr std::size_t kLongestFileName = 255;
constexpr std::size_t kLongestBody = 20'000;
/// Of the encoded text that is decoded: the longest body, with room for HTML and its encoding.
constexpr std::int64_t kLongestEncodedBody = std::int64_t{512} << 10;
constexpr std::size_t kMostAttachments = 200;
constexpr std::size_t kMostAddresses = 100;
constexpr int kDeepest = 16;

struct Unreference {
  void operator()(void* object) const noexcept { g_object_unref(object); }
};
template <class T>
using Object = std::unique_ptr<T, Unreference>;
using OwnedText = std::unique_ptr<char, decltype(&g_free)>;

void initialise_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_mime_init();
    // What senders in China write without saying so.
    static std::array<const char*, 3> charsets{"utf-8", "gb18030", nullptr};
    g_mime_parser_options_set_fallback_charsets(g_mime_parser_options_get_default(),
                                                charsets.data());
  });
}

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

void collect_addresses(InternetAddressList* list, std::vector<std::string>& addresses) {
  if (list == nullptr) return;
  for (int i = 0; i < internet_address_list_length(list); ++i) {
    if (addresses.size() == kMostAddresses) return;
    InternetAddress* address = internet_address_list_get_address(list, i);
    if (INTERNET_ADDRESS_IS_MAILBOX(address)) {
      addresses.push_back(stored_text(
          text_or_empty(internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address))),
          kLongestAddress));
    } else if (INTERNET_ADDRESS_IS_GROUP(address)) {
      collect_addresses(internet_address_group_get_members(INTERNET_ADDRESS_GROUP(address)),
                        addresses);
    }
  }
}

std::vector<std::string> delivered_to(GMimeMessage* message) {
  std::vector<std::string> addresses;
  GMimeHeaderList* headers = g_mime_object_get_header_list(GMIME_OBJECT(message));
  for (int i = 0; i < g_mime_header_list_get_count(headers); ++i) {
    GMimeHeader* header = g_mime_header_list_get_header_at(headers, i);
    const char* name = g_mime_header_get_name(header);
    for (const char* wanted : {"Delivered-To", "X-Original-To", "Envelope-To"}) {
      if (g_ascii_strcasecmp(name, wanted) != 0) continue;
      const Object<InternetAddressList> list{
          internet_address_list_parse(nullptr, g_mime_header_get_value(header))};
      collect_addresses(list.get(), addresses);
    }
  }
  return addresses;
}

std::optional<Timestamp> date_of(GMimeMessage* message) {
  GDateTime* date = g_mime_message_get_date(message);
  if (date == nullptr) return std::nullopt;
  return Timestamp{std::chrono::seconds{g_date_time_to_unix(date)}};
}

std::int64_t decoded_size(GMimePart* part) {
  GMimeDataWrapper* content = g_mime_part_get_content(part);
  if (content == nullptr) return 0;
  const std::int64_t raw = g_mime_stream_length(g_mime_data_wrapper_get_stream(content));
  if (g_mime_data_wrapper_get_encoding(content) != GMIME_CONTENT_ENCODING_BASE64) {
    return std::max<std::int64_t>(raw, 0);
  }
  // Lines of 76 characters and their ends hold 57 bytes.
  return std::max<std::int64_t>(raw, 0) * 57 / 78;
}

/// Lets the part end where no more of it is wanted: GMime would decode and convert all of it.
void shorten(GMimePart* part) {
  GMimeDataWrapper* content = g_mime_part_get_content(part);
  if (content == nullptr) return;
  GMimeStream* encoded = g_mime_data_wrapper_get_stream(content);
  if (encoded == nullptr || g_mime_stream_length(encoded) <= kLongestEncodedBody) return;
  const std::int64_t start = encoded->bound_start;
  const Object<GMimeStream> beginning{
      g_mime_stream_substream(encoded, start, start + kLongestEncodedBody)};
  const Object<GMimeDataWrapper> shorter{g_mime_data_wrapper_new_with_stream(
      beginning.get(), g_mime_data_wrapper_get_encoding(content))};
  g_mime_part_set_content(part, shorter.get());
}

/// Goes through the parts without looking into attachments.
class Walk {
 public:
  explicit Walk(Message& message) : message_{message} {}

  void visit(GMimeObject* part, int depth) {
    if (depth > kDeepest || message_.attachments.size() == kMostAttachments) return;
    if (GMIME_IS_MULTIPART(part)) {
      auto* multipart = GMIME_MULTIPART(part);
      const int count = std::min(g_mime_multipart_get_count(multipart), 1000);
      for (int i = 0; i < count; ++i) visit(g_mime_multipart_get_part(multipart, i), depth + 1);
    } else if (GMIME_IS_MESSAGE_PART(part)) {
      add_attachment("forwarded message", "message/rfc822", 0);
    } else if (GMIME_IS_PART(part)) {
      visit_leaf(GMIME_PART(part));
    }
  }

 private:
  void visit_leaf(GMimePart* part) {
    const OwnedText type{
        g_mime_content_type_get_mime_type(g_mime_object_get_content_type(GMIME_OBJECT(part))),
        &g_free};
    const char* name = g_mime_part_get_filename(part);
    if (name == nullptr && g_mime_part_is_attachment(part) == 0 && GMIME_IS_TEXT_PART(part)) {
      std::string& body = g_ascii_strcasecmp(type.get(), "text/html") == 0 ? message_.body_html
                                                                           : message_.body_text;
      if (!body.empty()) return;
      shorten(part);
      const OwnedText text{g_mime_text_part_get_text(GMIME_TEXT_PART(part)), &g_free};
      if (text != nullptr) body = stored_lines(text.get(), kLongestBody);
      return;
    }
    add_attachment(name != nullptr ? name : "attachment", text_or_empty(type.get()),
                   decoded_size(part));
  }

  void add_attachment(std::string_view name, std::string_view type, std::int64_t size) {
    message_.attachments.push_back({.filename = stored_text(name, kLongestFileName),
                                    .content_type = stored_text(type, kLongestFileName),
                                    .size = size});
  }

  Message& message_;
};

/// In any case, up to `most`.
std::size_t count(std::string_view bytes, std::string_view text, std::size_t most) {
  const auto is_same = [](char a, char b) { return g_ascii_tolower(a) == b; };
  std::size_t found = 0;
  for (const char* at = bytes.begin(); found < most; ++found) {
    at = std::search(at, bytes.end(), text.begin(), text.end(), is_same);
    if (at == bytes.end()) break;
    at += text.size();
  }
  return found;
}

/// Multiparts in multiparts, of which no honest sender makes so many: GMime compares each line that
/// begins with `--` with every boundary that is open, and of these only the headers are read here.
/// The extractor, which has a time limit, finds out what is in them.
bool is_tangled(std::string_view bytes) {
  constexpr std::size_t kMostComparisons = 2'000'000;
  return count(bytes, "boundary", kMostComparisons) * count(bytes, "\n--", kMostComparisons) >
         kMostComparisons;
}

/// GMime reads the caller's bytes where they are.
class BorrowedStream {
 public:
  explicit BorrowedStream(std::string_view bytes)
      : array_{g_byte_array_new_take(reinterpret_cast<guint8*>(const_cast<char*>(bytes.data())),
                                     bytes.size())} {
    g_mime_stream_mem_set_owner(GMIME_STREAM_MEM(stream_.get()), FALSE);
  }
  ~BorrowedStream() { g_byte_array_free(array_, FALSE); }
  BorrowedStream(const BorrowedStream&) = delete;
  BorrowedStream& operator=(const BorrowedStream&) = delete;

  [[nodiscard]] GMimeStream* get() const noexcept { return stream_.get(); }

 private:
  GByteArray* array_;
  const Object<GMimeStream> stream_{g_mime_stream_mem_new_with_byte_array(array_)};
};

/// Where the empty line behind the headers begins.
std::size_t end_of_headers(std::string_view bytes) noexcept {
  const std::size_t windows = bytes.find("\r\n\r\n");
  const std::size_t unix = bytes.substr(0, windows).find("\n\n");
  if (unix != std::string_view::npos) return unix + 1;
  return windows == std::string_view::npos ? bytes.size() : windows + 2;
}

std::string_view headers_of(std::string_view bytes) {
  return bytes.substr(0, end_of_headers(bytes));
}

/// A file that has none of these is something else.
bool looks_like_mail(GMimeMessage* message) {
  GMimeObject* object = GMIME_OBJECT(message);
  return std::ranges::any_of(
      std::array{"From", "To", "Subject", "Date", "Message-ID", "Received", "Delivered-To"},
      [&](const char* name) { return g_mime_object_get_header(object, name) != nullptr; });
}

}  // namespace

std::string_view body_of(std::string_view message) noexcept {
  return message.substr(end_of_headers(message));
}

Message read_message(std::string_view bytes, const std::string& sha256) {
  initialise_once();
  if (bytes.size() > static_cast<std::size_t>(kLargestMessage)) {
    throw ValidationException{"the e-mail is larger than 64 MiB"};
  }
  bytes = parseable_part(bytes);
  if (is_tangled(bytes)) bytes = headers_of(bytes);
  const BorrowedStream stream{bytes};
  const Object<GMimeParser> parser{g_mime_parser_new_with_stream(stream.get())};
  const Object<GMimeMessage> parsed{g_mime_parser_construct_message(parser.get(), nullptr)};
  if (parsed == nullptr || !looks_like_mail(parsed.get())) {
    throw ValidationException{"this is not an e-mail: it has no headers"};
  }
  Message message;
  message.message_id = stored_text(text_or_empty(g_mime_message_get_message_id(parsed.get())),
                                   kLongestMessageId + 1);
  if (message.message_id.empty() || message.message_id.size() > kLongestMessageId) {
    message.message_id = "sha256-" + sha256 + "@generated.invalid";
  }
  std::vector<std::string> from;
  collect_addresses(g_mime_message_get_from(parsed.get()), from);
  if (!from.empty()) message.from = from.front();
  for (const GMimeAddressType type : {GMIME_ADDRESS_TYPE_TO, GMIME_ADDRESS_TYPE_CC}) {
    collect_addresses(g_mime_message_get_addresses(parsed.get(), type), message.to);
  }
  message.delivered_to = delivered_to(parsed.get());
  message.subject =
      stored_text(text_or_empty(g_mime_message_get_subject(parsed.get())), kLongestSubject);
  message.date = date_of(parsed.get());
  if (GMimeObject* body = g_mime_message_get_mime_part(parsed.get())) Walk{message}.visit(body, 0);
  return message;
}

}  // namespace errand::invoices
