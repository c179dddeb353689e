#include "app/message_configuration.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/dsn_options.hpp"
#include "core/json_kind.hpp"

namespace errand::detail {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr const char* kDefaultFile = "errand.json";
constexpr const char* kFailedQueue = "failed";
/// The table of dead letters that applications have beside Symfony's own convention.
constexpr const char* kFailedTable = "failed_messages";

/// The keys that each part of the file may have; docs/configuration.md has all of them.
constexpr const char* kFileKeys = "transports, failure_transport, routing and class_names";
constexpr const char* kTransportKeys = "dsn, failure_transport and retry_strategy";
constexpr const char* kRetryKeys = "max_retries, delay, multiplier, max_delay and jitter";

/// A value of the file and the place where it stands, for messages.
class Place {
 public:
  Place(const json::value& value, std::string file, std::string path = {})
      : value_{value}, file_{std::move(file)}, path_{std::move(path)} {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw ConfigurationException{file_ + ": " + (path_.empty() ? "" : path_ + ": ") + what};
  }

  [[nodiscard]] const json::object& object() const {
    if (!value_.is_object()) refuse("expected an object, got " + kind_with_article(value_));
    return value_.get_object();
  }
  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) refuse("expected a string, got " + kind_with_article(value_));
    return std::string{value_.get_string()};
  }
  [[nodiscard]] double number() const {
    if (!value_.is_number()) refuse("expected a number, got " + kind_with_article(value_));
    return value_.to_number<double>();
  }
  [[nodiscard]] Place member(std::string_view name, const json::value& value) const {
    return {value, file_, path_ + (path_.empty() ? "" : ".") + std::string{name}};
  }

  /// Calls `body(name, place)` for each member.
  template <class Body>
  void each(Body&& body) const {
    for (const auto& [name, value] : object()) body(std::string{name}, member(name, value));
  }

 private:
  const json::value& value_;
  std::string file_;
  std::string path_;
};

int whole(const Place& place) {
  const double number = place.number();
  if (number < 0 || number > 1e9 || number != static_cast<double>(static_cast<int>(number))) {
    place.refuse("expected a whole number of 0 or more");
  }
  return static_cast<int>(number);
}

RetryPolicy read_retry(const Place& place) {
  RetryPolicy policy;
  place.each([&](const std::string& name, const Place& value) {
    if (name == "max_retries") {
      policy.max_retries = whole(value);
    } else if (name == "delay") {
      policy.delay = milliseconds{whole(value)};
    } else if (name == "multiplier") {
      policy.multiplier = value.number();
    } else if (name == "max_delay") {
      policy.max_delay = milliseconds{whole(value)};
    } else if (name == "jitter") {
      policy.jitter = value.number();
    } else {
      value.refuse(std::string{"unknown; there are "} + kRetryKeys);
    }
  });
  try {
    validate(policy);
  } catch (const ValidationException& error) {
    place.refuse(error.what());
  }
  return policy;
}

/// A name has no colon, a DSN has one.
bool is_dsn(const std::string& text) { return text.find(':') != std::string::npos; }

constexpr const char* kDsnForms =
    "\n  sqlite:app.db?queue_name=async"
    "\n  sqlite:///absolute/app.db?queue_name=async"
    "\n  postgresql://user:password@host:5432/database?queue_name=async"
    "\n  redis://user:password@host:6379/stream/group"
    "\n  rediss://user:password@host:6379/stream/group   (TLS)"
    "\n  redis+unix:///path/to.sock?stream=async";

/// What a DSN of tasks may be and one of a transport may not is left out of what is told.
Dsn transport_dsn(const std::string& text) {
  const auto refuse = [](const std::string& reason) {
    throw ConfigurationException{"wrong DSN of a transport: " + reason};
  };
  if (text.starts_with("doctrine:")) {
    refuse(
        "doctrine:// names a connection that only the Symfony application knows; give the DSN of "
        "that database itself, as postgresql://user:password@host:5432/database?queue_name=async");
  }
  try {
    Dsn dsn{text};
    if (dsn.kind() == EngineKind::mysql) {
      refuse("there are no transports on MySQL; the forms are:" + std::string{kDsnForms});
    }
    return dsn;
  } catch (const ConfigurationException& error) {
    const std::string what = error.what();
    const std::size_t forms = what.find("; the forms are:");
    if (forms == std::string::npos) throw;
    throw ConfigurationException{what.substr(0, forms) + "; the forms are:" + kDsnForms};
  }
}

TransportConfiguration read_transport(const Place& place) {
  std::optional<Dsn> dsn;
  std::optional<std::string> failure;
  std::optional<RetryPolicy> retry;
  place.each([&](const std::string& name, const Place& value) {
    if (name == "dsn") {
      const std::string text = value.text();
      try {
        dsn.emplace(transport_dsn(text));
      } catch (const ConfigurationException& error) {
        value.refuse(error.what());
      }
    } else if (name == "failure_transport") {
      failure = value.text();
    } else if (name == "retry_strategy") {
      retry = read_retry(value);
    } else {
      value.refuse(std::string{"unknown; there are "} + kTransportKeys);
    }
  });
  if (!dsn) place.refuse("there is no dsn");
  return {.dsn = *dsn, .failure_transport = failure, .retry = retry};
}

std::string list_of_names(const MessageConfiguration& configuration) {
  std::string names;
  for (const auto& [name, transport] : configuration.transports) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) return configuration.file + " names " + names;
  if (configuration.file.empty()) {
    return "there is no configuration: no --config, no $ERRAND_CONFIG, no errand.json in the "
           "working directory";
  }
  return configuration.file + " names none";
}

/// `line 3, column 5`, of a byte in a text: that is where editors go.
std::string position_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const std::string_view line = before.substr(line_start);
  const auto column =
      static_cast<std::ptrdiff_t>(line.size()) - std::ranges::count_if(line, continues);
  return "line " + std::to_string(lines + 1) + ", column " + std::to_string(column + 1);
}

/// `not JSON at byte 31: …`, as parse_json() says it, with the line and column instead.
std::string with_line_and_column(std::string_view text, const std::string& error) {
  constexpr std::string_view kAt = "at byte ";
  const std::size_t at = error.find(kAt);
  if (at == std::string::npos) return error;
  const char* digits = error.data() + at + kAt.size();
  std::size_t byte = 0;
  const char* end = std::from_chars(digits, error.data() + error.size(), byte).ptr;
  return error.substr(0, at) + "at " + position_in(text, byte) +
         error.substr(static_cast<std::size_t>(end - error.data()));
}

void require_known(const MessageConfiguration& configuration, const std::string& name,
                   const std::string& place) {
  if (configuration.transports.contains(name)) return;
  throw ConfigurationException{place + ": there is no transport " + name + "; " +
                               list_of_names(configuration)};
}

}  // namespace

MessageConfiguration MessageConfiguration::parse(std::string_view text,
                                                 const std::string& file_name) {
  MessageConfiguration configuration;
  configuration.file = file_name;
  json::value root;
  try {
    root = parse_json(text);
  } catch (const ValidationException& error) {
    throw ConfigurationException{file_name + ": " + with_line_and_column(text, error.what())};
  }
  Place{root, file_name}.each([&](const std::string& name, const Place& value) {
    if (name == "transports") {
      value.each([&](const std::string& transport, const Place& settings) {
        if (transport.empty() || is_dsn(transport)) settings.refuse("no name for a transport");
        configuration.transports.emplace(transport, read_transport(settings));
      });
    } else if (name == "failure_transport") {
      configuration.failure_transport = value.text();
    } else if (name == "routing") {
      value.each([&](const std::string& type, const Place& transport) {
        configuration.routing.emplace(type, transport.text());
      });
    } else if (name == "class_names") {
      value.each([&](const std::string& type, const Place& class_name) {
        configuration.class_names.emplace(type, class_name.text());
      });
    } else {
      value.refuse(std::string{"unknown; there are "} + kFileKeys);
    }
  });
  for (const auto& [name, transport] : configuration.transports) {
    if (!transport.failure_transport) continue;
    require_known(configuration, *transport.failure_transport,
                  file_name + ": transports." + name + ".failure_transport");
  }
  if (configuration.failure_transport) {
    require_known(configuration, *configuration.failure_transport,
                  file_name + ": failure_transport");
  }
  for (const auto& [type, transport] : configuration.routing) {
    require_known(configuration, transport, file_name + ": routing." + type);
  }
  return configuration;
}

SymfonySerializer MessageConfiguration::serializer() const {
  SymfonySerializer serializer;
  for (const auto& [type, class_name] : class_names) serializer.add(type, class_name);
  return serializer;
}

MessageConfiguration MessageConfiguration::from_environment(const std::string& file) {
  std::string name = file;
  if (name.empty()) {
    const char* variable = std::getenv("ERRAND_CONFIG");
    if (variable != nullptr) name = variable;
  }
  if (name.empty()) {
    if (!std::filesystem::exists(kDefaultFile)) return {};
    name = kDefaultFile;
  }
  std::ifstream stream{name, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{stream}, {}};
  if (!stream) {
    throw ConfigurationException{"cannot read the configuration " + name + ": " +
                                 std::generic_category().message(errno)};
  }
  return parse(text, name);
}

OpenTransports::OpenTransports(MessageConfiguration configuration, TransportOptions options)
    : configuration_{std::move(configuration)}, options_{std::move(options)} {}

const TransportConfiguration* OpenTransports::configured(const std::string& name) const {
  const auto known = configuration_.transports.find(name);
  return known != configuration_.transports.end() ? &known->second : nullptr;
}

Dsn OpenTransports::dsn_of(const std::string& name_or_dsn) const {
  if (const TransportConfiguration* known = configured(name_or_dsn)) return known->dsn;
  if (is_dsn(name_or_dsn)) return transport_dsn(name_or_dsn);
  if (name_or_dsn == kFailedQueue) {
    if (const auto dsn = implied_failure_queue()) return *dsn;
  }
  throw ConfigurationException{"there is no transport " + name_or_dsn + ": " +
                               list_of_names(configuration_) +
                               ". Name a transport that it has, or give a DSN: "
                               "sqlite:app.db?queue_name=async"};
}

std::string OpenTransports::name_for_people(const std::string& name_or_dsn) const {
  return is_dsn(name_or_dsn) ? transport_dsn(name_or_dsn).to_string() : name_or_dsn;
}

std::optional<std::string> OpenTransports::failure_name(const TransportConfiguration& of) const {
  if (of.failure_transport) return of.failure_transport;
  if (configuration_.failure_transport) return configuration_.failure_transport;
  if (knows(kFailedQueue)) return kFailedQueue;
  return std::nullopt;
}

bool OpenTransports::holds_failures(const std::string& name) const {
  return configuration_.failure_transport == name ||
         std::ranges::any_of(configuration_.transports, [&](const auto& entry) {
           return entry.second.failure_transport == name;
         });
}

std::optional<Dsn> OpenTransports::implied_failure_queue() const {
  std::optional<Dsn> found;
  for (const auto& [name, transport] : configuration_.transports) {
    if (failure_name(transport) || holds_failures(name)) continue;
    const Dsn beside = with_queue(transport.dsn, kFailedQueue);
    if (found && found->secret_text() != beside.secret_text()) {
      throw ConfigurationException{
          "the transports of " + configuration_.file +
          " are in several places, each with a queue `failed` of its own: give the DSN of the one "
          "you mean, as " +
          found->to_string() + " or " + beside.to_string() + "; or name it in " +
          configuration_.file};
    }
    found = beside;
  }
  return found;
}

std::vector<std::string> OpenTransports::failure_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& [name, transport] : configuration_.transports) {
    if (holds_failures(name)) {
      add(name);
    } else {
      add(failure_name(transport).value_or(kFailedQueue));
    }
  }
  return names;
}

bool OpenTransports::is_failure_transport(const std::string& name_or_dsn) const {
  const std::vector<std::string> names = failure_names();
  if (!is_dsn(name_or_dsn)) return std::ranges::find(names, name_or_dsn) != names.end();
  const Dsn dsn = transport_dsn(name_or_dsn);
  const auto is_configured = [&](const std::string& name) {
    const TransportConfiguration* known = configured(name);
    return known != nullptr && known->dsn.secret_text() == dsn.secret_text();
  };
  if (std::ranges::any_of(names, is_configured)) return true;
  if (dsn.kind() == EngineKind::redis && dsn.option("stream") == kFailedQueue) return true;
  if (dsn.kind() != EngineKind::redis && dsn.option("table_name") == kFailedTable) return true;
  return with_queue(dsn, kFailedQueue).secret_text() == dsn.secret_text();
}

Transport& OpenTransports::open(const std::string& key, const std::string& name, const Dsn& dsn) {
  const std::lock_guard lock{*mutex_};
  std::unique_ptr<Transport>& transport = open_[key];
  if (!transport) {
    TransportOptions options = options_;
    options.name = name;
    transport = open_transport(dsn, options);
  }
  return *transport;
}

Transport& OpenTransports::get(const std::string& name_or_dsn) {
  return open(name_or_dsn, is_dsn(name_or_dsn) ? "" : name_or_dsn, dsn_of(name_or_dsn));
}

Transport& OpenTransports::failure_of(const std::string& name_or_dsn) {
  if (const auto name = failure_name_of(name_or_dsn)) return get(*name);
  const Dsn beside = with_queue(dsn_of(name_or_dsn), kFailedQueue);
  return open(beside.secret_text(), kFailedQueue, beside);
}

std::optional<std::string> OpenTransports::failure_name_of(const std::string& name_or_dsn) const {
  const TransportConfiguration* known = configured(name_or_dsn);
  return known != nullptr ? failure_name(*known)
                          : failure_name({.dsn = dsn_of(name_or_dsn), .failure_transport = {}});
}

std::string OpenTransports::failure_called(const std::string& name_or_dsn) const {
  if (const auto name = failure_name_of(name_or_dsn)) return *name;
  const Dsn beside = with_queue(dsn_of(name_or_dsn), kFailedQueue);
  try {
    const std::optional<Dsn> implied = implied_failure_queue();
    if (implied && implied->secret_text() == beside.secret_text()) return kFailedQueue;
  } catch (const ConfigurationException&) {
    // There are several of that name.
  }
  return beside.to_string();
}

ConsumedTransport OpenTransports::consumed(const std::string& name_or_dsn) {
  const TransportConfiguration* known = configured(name_or_dsn);
  ConsumedTransport consumed{.transport = &get(name_or_dsn), .failure = &failure_of(name_or_dsn)};
  if (known != nullptr && known->retry) consumed.retry = consumed.task_retry = *known->retry;
  consumed.failure_called = failure_called(name_or_dsn);
  return consumed;
}

}  // namespace errand::detail
