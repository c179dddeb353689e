#pragma once

#include "errand/engine.hpp"
#include "errand/export.hpp"

/// What programs say to a storage whose schema is not theirs.
namespace errand::detail {

/// Throws StorageException if the storage is newer than this program.
ERRAND_EXPORT void refuse_newer_schema(int installed, int supported);

/// What opening an engine means for its schema: made where there is none and that is wanted;
/// checked unless that is not. Throws StorageException that says what to do next.
ERRAND_EXPORT void prepare_schema(Schema& schema, EngineOptions::Open open);

}  // namespace errand::detail
