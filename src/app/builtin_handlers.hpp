#pragma once

#include "errand/handler.hpp"

namespace errand::detail {

/// errand.echo (returns its payload), errand.sleep {"ms":n}, errand.fail {"message":…}: enough to
/// try a deployment without writing a handler. Types the program has taken itself are left to it.
void add_builtin_handlers(Handlers& handlers);

}  // namespace errand::detail
