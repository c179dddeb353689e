#pragma once

#include "errand/errors.hpp"

#include "invoice_intake/model/id.hpp"
#include "invoice_intake/model/profile.hpp"

namespace errand::invoices {

/// There is no such thing, or it is another user's: which of the two is nobody's business.
class NotFound : public Error {
 public:
  using Error::Error;
  NotFound(const EmailTaskId& id, const Profile& user)
      : Error{user.email + " has no task " + id.text()} {}
};

}  // namespace errand::invoices
