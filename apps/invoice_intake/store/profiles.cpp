#include "invoice_intake/store/profiles.hpp"

#include <algorithm>

#include "errand/errors.hpp"

#include "invoice_intake/model/stored_text.hpp"
#include "invoice_intake/store/columns.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kLongestAddress = 320;  // 64 before the @, 255 behind it
constexpr std::size_t kLongestName = 200;

}  // namespace

std::optional<std::string> mailbox_of(std::string_view address) {
  if (address.size() > kLongestAddress) return std::nullopt;
  const std::size_t at = address.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == address.size()) return std::nullopt;
  const std::string_view local = address.substr(0, std::min(address.find('+'), at));
  if (local.empty()) return std::nullopt;
  std::string mailbox{local};
  mailbox += address.substr(at);
  for (char& c : mailbox) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') return std::nullopt;
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return mailbox;
}

Profile add_profile(Database& database, std::string_view email, const std::string& display_name,
                    const std::optional<UserId>& id) {
  const std::optional<std::string> mailbox = mailbox_of(email);
  if (!mailbox) {
    throw ValidationException{"`" + std::string{email} +
                              "` is not an e-mail address; one looks like ann@example.com"};
  }
  Profile profile{.user_id = id ? *id : UserId::generate(),
                  .email = *mailbox,
                  .display_name = stored_text(display_name, kLongestName)};
  database.write(profile.user_id, [&](Session& session) {
    profile.created_at = session.now();
    const Rows rows = session.run(
        "INSERT INTO profiles (auth_user_id, id, email, display_name, created_at, updated_at, "
        "created_by, updated_by) VALUES ($1, $2, $3, $4, $5, $5, $6, $6) ON CONFLICT DO NOTHING",
        {new_uuid(), profile.email, profile.display_name, time_text(profile.created_at),
         profile.user_id.text()});
    if (rows.affected != 1) {
      throw ValidationException{"there is a user with the address " + profile.email +
                                (id ? " or the id " + id->text() : "") + " already"};
    }
  });
  return profile;
}

Profile find_profile(Database& database, const std::string& text) {
  if (const std::optional<UserId> id = UserId::parse(text)) {
    for (Profile& profile : database.profiles()) {
      if (profile.user_id == *id) return std::move(profile);
    }
    throw NoSuchUser{"there is no user with the id " + id->text() +
                     "; `errand-invoices user list` shows who there is"};
  }
  const std::optional<std::string> mailbox = mailbox_of(text);
  std::optional<Profile> profile = mailbox ? database.profile_of(*mailbox) : std::nullopt;
  if (profile) return std::move(*profile);
  throw NoSuchUser{"there is no user `" + text +
                   "`; `errand-invoices user list` shows who there is, "
                   "`errand-invoices user add ADDRESS` adds one"};
}

}  // namespace errand::invoices
