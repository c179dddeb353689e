#pragma once

#include "errand/errors.hpp"

namespace errand::distributors {

/// There is no such distributor, level or withdrawal.
class NotFound : public Error {
 public:
  using Error::Error;
};

/// The state that the data is in does not allow it; nothing was changed.
class NotPossible : public Error {
 public:
  using Error::Error;
};

}  // namespace errand::distributors
