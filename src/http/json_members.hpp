#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand::http {

/// A member of a JSON object, its value as it was written.
struct JsonMember {
  std::string name;
  std::string_view value;
};

/// The members in their order. `object` must be a JSON object that was parsed before, and outlive
/// them. For documents that are to be kept as they are: a parser and a writer would change numbers.
[[nodiscard]] std::vector<JsonMember> members_of(std::string_view object);

}  // namespace errand::http
