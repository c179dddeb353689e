#include "engine/redis/schema.hpp"

#include "errand/errors.hpp"

#include "core/schema_versions.hpp"

namespace errand::redis {
namespace {

/// A change of the keys of a storage that is in use raises it, and says here how to get there.
/// Version 1 was never released: its entries are in another order.
constexpr int kVersion = 2;

}  // namespace

std::string schema_script(const std::string& prefix, RecordKind record) {
  const std::string own = "SET " + prefix + "errand:";
  return own + "record " + std::string{to_string(record)} + " NX\n" + own + "schema " +
         std::to_string(kVersion) + " NX\n";
}

int RedisSchema::installed_version() {
  return database_
      .read([&](Connection& connection) {
        return connection.run(Command{"GET"}.add(database_.own_key("schema")));
      })
      .value()
      .small_integer();
}

void RedisSchema::require_record_kind() {
  const std::string_view wanted = to_string(database_.settings().record);
  const Reply stored = database_.read([&](Connection& connection) {
    return connection.run(Command{"GET"}.add(database_.own_key("record")));
  });
  // Whoever sets the schema sets the kind before: one without it is older than compact records.
  const std::string kind{stored.value().is_nil() ? to_string(RecordKind::shared)
                                                 : stored.value().text()};
  if (kind == wanted || (stored.value().is_nil() && installed_version() == 0)) return;
  throw ConfigurationException{
      "the tasks there are stored as " + kind + " records; write record=" + kind +
      " in the DSN, or use another database or prefix for " + std::string{wanted} + " ones"};
}

int RedisSchema::supported_version() const { return kVersion; }

void RedisSchema::migrate() {
  const int installed = installed_version();
  detail::refuse_newer_schema(installed, kVersion);
  if (installed != 0 && installed < kVersion) {
    throw StorageException{
        "the tasks there were stored by a version of Errand that was never released; let it run "
        "them, "
        "and use another database or prefix from now on",
        StorageException::Retry::useless};
  }
  database_.write([&](Connection& connection) {
    // In this order: whoever finds the version finds the kind of records.
    static_cast<void>(connection.run(Command{"SET"}
                                         .add(database_.own_key("record"))
                                         .add(to_string(database_.settings().record))
                                         .add("NX")));
    return connection.run(
        Command{"SET"}.add(database_.own_key("schema")).add(std::int64_t{kVersion}).add("NX"));
  });
}

}  // namespace errand::redis
