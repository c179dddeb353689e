#pragma once

#include <string>
#include <string_view>

namespace errand::distributors {

/// Throws ValidationException, naming `what` ("the level's name"), unless `name` is 1 to 100 bytes
/// without control characters and not only spaces.
void check_name(std::string_view name, const std::string& what);

}  // namespace errand::distributors
