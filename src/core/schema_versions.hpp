#pragma once

#include <string>

#include "errand/engine.hpp"
#include "errand/errors.hpp"
#include "errand/export.hpp"

/// What programs say to a storage whose schema is not theirs.
namespace errand::detail {

/// What is said of a storage that was never set up, and what to do: by doctor as by all others.
inline constexpr const char* kNoTables = "has no Errand tables yet";
inline constexpr const char* kMakeTables = "run `errand setup`, or submit a task, to create them";

/// The storage is there, but was never set up.
class ERRAND_EXPORT NoTables : public StorageException {
 public:
  explicit NoTables(const std::string& storage)
      : StorageException{storage + " " + kNoTables + "; " + kMakeTables, Retry::useless} {}
};

/// Throws StorageException if the storage is newer than this program.
ERRAND_EXPORT void refuse_newer_schema(int installed, int supported);

/// What opening an engine means for its schema: made where there is none and that is wanted;
/// checked unless that is not. Throws StorageException that says what to do next.
ERRAND_EXPORT void prepare_schema(Schema& schema, EngineOptions::Open open);

}  // namespace errand::detail
