#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "errand/errors.hpp"

#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

/// Nobody has that address or id.
class NoSuchUser : public ValidationException {
 public:
  using ValidationException::ValidationException;
};

/// The address mail for `address` belongs to: lower case, without the part from `+` on:
/// Ann+invoice@Example.com → ann@example.com. nullopt for what is no address.
[[nodiscard]] std::optional<std::string> mailbox_of(std::string_view address);

/// Stores a new user. `id`: the user's id elsewhere, if there is one. Throws ValidationException if
/// the address is none, or the address or the id are taken.
Profile add_profile(Database& database, std::string_view email, const std::string& display_name,
                    const std::optional<UserId>& id = std::nullopt);

/// The user that `text`, an address or an id, names. Throws ValidationException if there is none.
[[nodiscard]] Profile find_profile(Database& database, const std::string& text);

}  // namespace errand::invoices
