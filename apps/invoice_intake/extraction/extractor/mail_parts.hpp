#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/extractor/unpacked.hpp"
#include "invoice_intake/extraction/report.hpp"

typedef struct _GMimeObject GMimeObject;    // NOLINT: GMime's own spelling
typedef struct _GMimeMessage GMimeMessage;  // NOLINT: GMime's own spelling

namespace errand::invoices {

/// A parsed message.
class Mail {
 public:
  /// Reads the message; its parts are decoded later, one by one. `bytes` must outlive this.
  /// nullopt: not a message.
  static std::optional<Mail> parse(std::string_view bytes);

  [[nodiscard]] MailHeaders headers() const;

  /// A leaf, or a message inside the message.
  struct Part {
    std::string name;                 ///< as the sender wrote it, decoded; may be empty
    bool is_body = false;             ///< text of the message itself, not an attachment
    GMimeObject* object = nullptr;    ///< a leaf; valid as long as the Mail
    GMimeMessage* message = nullptr;  ///< a message inside
    std::int64_t depth = 0;           ///< multiparts around it
  };
  /// In order of appearance. `visit` returns false to stop.
  void for_each_part(const std::function<bool(const Part&)>& visit) const;
  /// The same inside a message that is a part.
  static void for_each_part_of(GMimeMessage* message,
                               const std::function<bool(const Part&)>& visit);

  /// Decoded.
  [[nodiscard]] static Unpacked contents(GMimeObject* object, std::int64_t most);

 private:
  struct Unref {
    void operator()(void* object) const noexcept;
  };
  explicit Mail(GMimeMessage* message) : message_{message} {}
  std::unique_ptr<GMimeMessage, Unref> message_;
};

}  // namespace errand::invoices
