#pragma once

#include <vector>

#include "invoice_intake/store/database.hpp"

/// Columns as both databases write them, as values.
namespace errand::invoices {

/// Throws StorageException for what is not there or not of that kind: somebody changed the row.
[[nodiscard]] const std::string& text_of(const Text& column);
[[nodiscard]] int integer_of(const Text& column);
[[nodiscard]] std::optional<double> number_of(const Text& column);
[[nodiscard]] Timestamp time_of(const Text& column);
[[nodiscard]] std::optional<Timestamp> optional_time_of(const Text& column);

/// What both databases read as a time in UTC.
[[nodiscard]] std::string time_text(Timestamp time);
[[nodiscard]] Text optional_time_text(const std::optional<Timestamp>& time);

/// The pattern of LIKE, with ESCAPE '!', for texts that have `part` in them.
[[nodiscard]] std::string like_pattern(const std::string& part);

/// Of auth_user_id, email, display_name, created_at.
[[nodiscard]] std::vector<Profile> read_profiles(const Rows& rows);

}  // namespace errand::invoices
