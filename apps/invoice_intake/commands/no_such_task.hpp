#pragma once

#include "errand/errors.hpp"

#include "invoice_intake/model/id.hpp"
#include "invoice_intake/model/profile.hpp"

namespace errand::invoices {

/// The user has no such task. Whether another one has is nobody's business.
class NoSuchTask : public Error {
 public:
  NoSuchTask(const EmailTaskId& id, const Profile& user)
      : Error{user.email + " has no task " + id.text()} {}
};

}  // namespace errand::invoices
