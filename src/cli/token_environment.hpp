#pragma once

#include "http/access.hpp"

namespace errand::cli {

/// Adds the tokens of $ERRAND_TOKEN and $ERRAND_READ_TOKEN, where they are set, and removes them
/// from the environment: what this process starts need not know them. Throws
/// ConfigurationException naming the variable.
void add_tokens_of_environment(http::Access& access);

}  // namespace errand::cli
