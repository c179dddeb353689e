#include "engine/redis/stream_settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "errand/errors.hpp"

#include "core/document_rules.hpp"
#include "core/dsn_options.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The last six mean something to PHP alone and are accepted so that one DSN serves both.
constexpr std::array<std::string_view, 18> kOwnOptions{"stream",
                                                       "group",
                                                       "consumer",
                                                       "dbindex",
                                                       "auth",
                                                       "auto_setup",
                                                       "remove_after",
                                                       "redeliver_timeout",
                                                       "claim_interval",
                                                       "delete_after_ack",
                                                       "delete_after_reject",
                                                       "stream_max_entries",
                                                       "serializer",
                                                       "lazy",
                                                       "timeout",
                                                       "read_timeout",
                                                       "retry_interval",
                                                       "persistent_id"};

[[noreturn]] void refuse(const Dsn& dsn, const std::string& reason) {
  throw ConfigurationException{dsn.to_string() + ": " + reason};
}

/// What stands after the host goes before the options.
void read_names(const Dsn& dsn, StreamSettings& settings) {
  const std::array<std::pair<const char*, std::string*>, 3> names{
      {{"stream", &settings.stream}, {"group", &settings.group}, {"consumer", &settings.consumer}}};
  for (const auto& [name, value] : names) {
    if (const auto option = dsn.option(name)) *value = *option;
  }
  std::string_view path = is_socket(dsn) ? std::string_view{} : std::string_view{dsn.path()};
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::string_view first = path.substr(0, path.find('/'));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!first.empty() && std::ranges::all_of(first, is_digit)) {
    refuse(dsn,
           "a transport has the name of its stream after the host, as redis://host/messages; the "
           "number of the database is dbindex=" +
               std::string{first} +
               ", and a stream that is called like a number is stream=" + std::string{first});
  }
  std::size_t place = 0;
  for (bool more = !path.empty(); more; ++place) {
    const std::size_t slash = path.find('/');
    if (place == names.size()) refuse(dsn, "after the host come stream/group/consumer, no more");
    *names[place].second = path.substr(0, slash);
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
  }
  for (const auto& [name, value] : names) {
    try {
      detail::check_label(name, *value);
    } catch (const ValidationException& error) {
      refuse(dsn, error.what());
    }
  }
}

}  // namespace

StreamSettings stream_settings(const Dsn& dsn) {
  check_option_names(dsn, kOwnOptions);
  StreamSettings settings;
  settings.connection =
      connection_settings(dsn, detail::number_option(dsn, "dbindex", 0, 0, kLastDatabase));
  if (const auto auth = dsn.option("auth")) {
    settings.connection.user.clear();
    settings.connection.password = *auth;
  }
  settings.most_connections = most_connections(dsn);
  read_names(dsn, settings);

  constexpr std::int64_t kMost = 1'000'000'000;
  settings.redeliver_timeout =
      seconds{detail::number_option(dsn, "redeliver_timeout", 3600, 1, kMost)};
  const milliseconds claim_interval{detail::number_option(dsn, "claim_interval", 60'000, 1, kMost)};
  // Where consumers may be silent for a short time only, their messages are not to wait for long.
  settings.claim_interval = std::min(claim_interval, milliseconds{settings.redeliver_timeout} / 10);
  settings.auto_setup = detail::switch_option(dsn, "auto_setup", true);
  settings.delete_after_ack = detail::switch_option(dsn, "delete_after_ack", true);
  settings.delete_after_reject = detail::switch_option(dsn, "delete_after_reject", true);
  settings.stream_max_entries = detail::number_option(dsn, "stream_max_entries", 0, 0, kMost);
  settings.remove_after =
      std::chrono::floor<seconds>(detail::seconds_option(dsn, "remove_after", seconds{0}));
  return settings;
}

}  // namespace errand::redis
