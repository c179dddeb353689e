#include "core/schema_versions.hpp"

#include <string>

#include "errand/errors.hpp"

namespace errand::detail {

void refuse_newer_schema(int installed, int supported) {
  if (installed <= supported) return;
  throw StorageException{"the storage has schema version " + std::to_string(installed) +
                             ", this program knows up to " + std::to_string(supported) +
                             "; use the newer Errand that made it",
                         StorageException::Retry::useless};
}

void require_schema(int installed, int supported) {
  refuse_newer_schema(installed, supported);
  if (installed == supported) return;
  throw StorageException{
      installed == 0 ? std::string{"the storage has no Errand tables yet; run `errand setup`, or "
                                   "submit a task, to create them"}
                     : "the storage has schema version " + std::to_string(installed) +
                           ", this program needs " + std::to_string(supported) +
                           "; stop the older programs and run `errand setup`",
      StorageException::Retry::useless};
}

}  // namespace errand::detail
