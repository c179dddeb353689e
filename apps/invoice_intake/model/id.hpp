#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "errand/errors.hpp"

namespace errand::invoices {

/// A new UUID, see TaskId::generate(). Throws std::system_error if the kernel gives no random
/// bytes.
[[nodiscard]] std::string new_uuid();

/// `text` in lower case if it is a UUID of any version, else nullopt.
[[nodiscard]] std::optional<std::string> canonical_uuid(std::string_view text);

/// A UUID that names one kind of thing: those of another kind do not compile in its place.
template <class Tag>
class Id {
 public:
  [[nodiscard]] static Id generate() { return Id{new_uuid()}; }

  [[nodiscard]] static std::optional<Id> parse(std::string_view text) {
    if (auto uuid = canonical_uuid(text)) return Id{std::move(*uuid)};
    return std::nullopt;
  }

  /// As parse(); throws ValidationException naming the text and the right form.
  [[nodiscard]] static Id from_string(std::string_view text) {
    if (auto id = parse(text)) return std::move(*id);
    throw ValidationException{
        "`" + std::string{text} +
        "` is not an id; one looks like 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10"};
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  friend bool operator==(const Id&, const Id&) = default;

 private:
  explicit Id(std::string text) : text_{std::move(text)} {}

  std::string text_;
};

using UserId = Id<struct UserTag>;            ///< profiles.auth_user_id
using EmailTaskId = Id<struct EmailTaskTag>;  ///< email_processing_tasks.id
using InvoiceId = Id<struct InvoiceTag>;      ///< invoices.id

}  // namespace errand::invoices
