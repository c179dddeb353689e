#include "distributor_upgrade/commands/invocation.hpp"

#include <cstdlib>
#include <fmt/ostream.h>

#include "errand/errors.hpp"

#include "distributor_upgrade/store/dsn_options.hpp"
#include "distributor_upgrade/upgrade/check_message.hpp"

namespace errand::distributors {

Dsn Invocation::dsn() const {
  Dsn dsn = Dsn::from_environment(dsn_option);
  if (!dsn_option.empty() && (!dsn.password().empty() || dsn.option("password"))) {
    throw ConfigurationException{
        "--dsn: a password on the command line can be seen by everybody on this machine; put the "
        "DSN into $ERRAND_DSN, or the password into ~/.pgpass or $PGPASSWORD"};
  }
  return dsn;
}

std::unique_ptr<Database> Invocation::database() const {
  std::unique_ptr<Database> database = open_database(dsn());
  require_tables(*database);
  return database;
}

std::unique_ptr<Transport> Invocation::checks(Logger& logger) const {
  TransportOptions options;
  options.name = "async_messages";
  options.logger = &logger;
  return open_transport(for_checks(dsn()), options);
}

std::unique_ptr<Transport> Invocation::failures(Logger& logger) const {
  TransportOptions options;
  options.name = "failed_messages";
  options.logger = &logger;
  return open_transport(for_failures(dsn()), options);
}

std::string Invocation::message_class() const {
  if (!message_class_option.empty()) return message_class_option;
  const char* configured = std::getenv("ERRAND_DISTRIBUTORS_MESSAGE_CLASS");
  return configured != nullptr && *configured != '\0' ? configured : kCheckClass;
}

void Invocation::print_id(std::int64_t id) const {
  if (json) {
    fmt::print(console.out, "{{\"id\":{}}}\n", id);
  } else {
    fmt::print(console.out, "{}\n", id);
  }
}

}  // namespace errand::distributors
