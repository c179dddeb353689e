#pragma once

#include <string>

#include "errand/timestamp.hpp"

#include "invoice_intake/model/id.hpp"

namespace errand::invoices {

/// Somebody who gets invoices: one row of profiles.
struct Profile {
  UserId user_id;
  std::string email{};  ///< without a +tag, in lower case
  std::string display_name{};
  Timestamp created_at{};
};

}  // namespace errand::invoices
