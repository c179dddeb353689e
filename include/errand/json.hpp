#pragma once

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string_view>

#include "errand/export.hpp"
#include "errand/task.hpp"

namespace errand {

/// Bounds for text that comes from outside.
struct JsonLimits {
  std::size_t max_bytes = kMaxDocumentBytes;
  std::size_t max_depth = 64;
};

/// Reads one JSON document, nothing before or behind it but white space. Numbers keep every bit a
/// double has; those too big for one are refused. Of members with the same name the last one
/// counts. Throws ValidationException with the position and the reason.
///
/// The value lives in `storage`, which must outlive it.
[[nodiscard]] ERRAND_EXPORT boost::json::value parse_json(std::string_view text,
                                                          const JsonLimits& limits = {},
                                                          boost::json::storage_ptr storage = {});

}  // namespace errand
