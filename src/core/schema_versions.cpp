#include "core/schema_versions.hpp"

#include <string>

namespace errand::detail {

void refuse_newer_schema(int installed, int supported) {
  if (installed <= supported) return;
  throw StorageException{"the storage has schema version " + std::to_string(installed) +
                             ", this program knows up to " + std::to_string(supported) +
                             "; use the newer Errand that made it",
                         StorageException::Retry::useless};
}

namespace {

void require_schema(int installed, int supported) {
  refuse_newer_schema(installed, supported);
  if (installed == supported) return;
  if (installed == 0) throw NoTables{"the storage"};
  throw StorageException{"the storage has schema version " + std::to_string(installed) +
                             ", this program needs " + std::to_string(supported) +
                             "; stop the older programs and run `errand setup`",
                         StorageException::Retry::useless};
}

}  // namespace

void prepare_schema(Schema& schema, EngineOptions::Open open) {
  using Open = EngineOptions::Open;
  if (open == Open::any_schema || open == Open::inspect) return;
  if (open == Open::create && schema.installed_version() == 0) schema.migrate();
  require_schema(schema.installed_version(), schema.supported_version());
}

}  // namespace errand::detail
