#pragma once

#include "errand/export.hpp"

/// What programs say to a storage whose schema is not theirs.
namespace errand::detail {

/// Throws StorageException if the storage is newer than this program.
ERRAND_EXPORT void refuse_newer_schema(int installed, int supported);

/// Throws StorageException that says what to do next, unless both are the same.
ERRAND_EXPORT void require_schema(int installed, int supported);

}  // namespace errand::detail
