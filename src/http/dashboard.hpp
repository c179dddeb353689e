#pragma once

#include "http/request.hpp"
#include "http/response.hpp"

namespace errand::http {

/// A file of the dashboard: the one the path names; index.html for paths whose last part has no
/// dot, which are the dashboard's own. 304 if the browser has it already. Throws Problem 404.
[[nodiscard]] Response dashboard_file(const Request& request);

}  // namespace errand::http
