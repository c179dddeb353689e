#pragma once

#include <boost/json/fwd.hpp>

namespace errand::invoices {

/// PostgreSQL's `document @> part`: objects contain what each member contains; arrays, in any
/// order, something for each element; scalars themselves. At the top, an array also contains a
/// scalar that is one of its elements.
[[nodiscard]] bool json_contains(const boost::json::value& document,
                                 const boost::json::value& part);

}  // namespace errand::invoices
