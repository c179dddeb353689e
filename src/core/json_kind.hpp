#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "errand/export.hpp"

namespace errand::detail {

/// For messages: "a string", "an object", "null".
[[nodiscard]] ERRAND_EXPORT std::string kind_with_article(const boost::json::value& value);

}  // namespace errand::detail
