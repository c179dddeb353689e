#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/timestamp.hpp"

namespace errand::invoices {

struct ListedAttachment {
  std::string filename{};
  std::string content_type{};  ///< as the sender says
  std::int64_t size = 0;       ///< bytes, decoded, about
};

/// What an e-mail says of itself. All texts are UTF-8 in one line, unless said otherwise.
struct Message {
  /// Without < and >; made of the content where the sender gave none, or one too long to store.
  std::string message_id{};
  std::string from{};
  std::vector<std::string> to{};  ///< addresses of To and Cc
  /// Where mail servers say they delivered it: Delivered-To, X-Original-To, Envelope-To.
  std::vector<std::string> delivered_to{};
  std::string subject{};
  std::optional<Timestamp> date{};
  std::vector<ListedAttachment> attachments{};
  std::string body_text{};  ///< lines; the first part of a long one
  std::string body_html{};
};

/// E-mails above this size are refused.
inline constexpr std::int64_t kLargestMessage = std::int64_t{64} << 20;

/// Reads the headers, the text and the names of the attachments; looks into no attachment. Of a
/// message that is beyond ParseLimits it reads the beginning: memory and time do not follow what a
/// sender makes of the bytes. `sha256` is that of the bytes. Throws ValidationException if they are
/// no e-mail, or too many.
[[nodiscard]] Message read_message(std::string_view bytes, const std::string& sha256);

/// Behind the headers: what stays the same on whichever way an e-mail comes.
[[nodiscard]] std::string_view body_of(std::string_view message) noexcept;

}  // namespace errand::invoices
