#include "app/message_configuration.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
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
      value.refuse("unknown; there are max_retries, delay, multiplier, max_delay and jitter");
    }
  });
  try {
    validate(policy);
  } catch (const ValidationException& error) {
    place.refuse(error.what());
  }
  return policy;
}

TransportConfiguration read_transport(const Place& place) {
  std::optional<Dsn> dsn;
  std::optional<std::string> failure;
  std::optional<RetryPolicy> retry;
  place.each([&](const std::string& name, const Place& value) {
    if (name == "dsn") {
      const std::string text = value.text();
      try {
        dsn.emplace(text);
      } catch (const ConfigurationException& error) {
        value.refuse(error.what());
      }
    } else if (name == "failure_transport") {
      failure = value.text();
    } else if (name == "retry_strategy") {
      retry = read_retry(value);
    } else {
      value.refuse("unknown; there are dsn, failure_transport and retry_strategy");
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
  return names.empty() ? "the configuration names none" : "the configuration names " + names;
}

void require_known(const MessageConfiguration& configuration, const std::string& name,
                   const std::string& place) {
  if (configuration.transports.contains(name)) return;
  throw ConfigurationException{place + ": there is no transport " + name + "; " +
                               list_of_names(configuration)};
}

/// A name has no colon, a DSN has one.
bool is_dsn(const std::string& text) { return text.find(':') != std::string::npos; }

}  // namespace

MessageConfiguration MessageConfiguration::parse(std::string_view text,
                                                 const std::string& file_name) {
  MessageConfiguration configuration;
  json::value root;
  try {
    root = parse_json(text);
  } catch (const ValidationException& error) {
    throw ConfigurationException{file_name + ": " + error.what()};
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
      value.refuse("unknown; there are transports, failure_transport, routing and class_names");
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
  if (!stream) throw ConfigurationException{"cannot read the configuration " + name};
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
  if (is_dsn(name_or_dsn)) return Dsn{name_or_dsn};
  throw ConfigurationException{"there is no transport " + name_or_dsn + "; " +
                               list_of_names(configuration_) +
                               ". Name one of them, or give a DSN: sqlite:app.db?queue_name=async"};
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
  return open(name_or_dsn, knows(name_or_dsn) ? name_or_dsn : "", dsn_of(name_or_dsn));
}

Transport& OpenTransports::failure_of(const std::string& name_or_dsn) {
  const TransportConfiguration* known = configured(name_or_dsn);
  if (known != nullptr && known->failure_transport) return get(*known->failure_transport);
  if (configuration_.failure_transport) return get(*configuration_.failure_transport);
  if (knows(kFailedQueue)) return get(kFailedQueue);
  const Dsn beside = with_queue(dsn_of(name_or_dsn), kFailedQueue);
  return open(beside.secret_text(), kFailedQueue, beside);
}

ConsumedTransport OpenTransports::consumed(const std::string& name_or_dsn) {
  const TransportConfiguration* known = configured(name_or_dsn);
  ConsumedTransport consumed{.transport = &get(name_or_dsn), .failure = &failure_of(name_or_dsn)};
  if (known != nullptr && known->retry) consumed.retry = consumed.task_retry = *known->retry;
  return consumed;
}

}  // namespace errand::detail
