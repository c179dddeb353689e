#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/bus.hpp"
#include "errand/dsn.hpp"
#include "errand/message_consumer.hpp"
#include "errand/retry.hpp"
#include "errand/transport.hpp"

#include "bus/routes.hpp"
#include "bus/symfony_serializer.hpp"

namespace errand::detail {

struct TransportConfiguration {
  Dsn dsn;
  std::optional<std::string> failure_transport;
  std::optional<RetryPolicy> retry{};
};

/// The configuration file: names for transports, routes, retry policies, failure transports, in the
/// words of Symfony's messenger.yaml.
///
///     {"transports": {
///        "async":  {"dsn": "sqlite:app.db?queue_name=async",
///                   "retry_strategy": {"max_retries": 3, "delay": 1000, "multiplier": 5}},
///        "failed": {"dsn": "sqlite:app.db?queue_name=failed"}},
///      "failure_transport": "failed",
///      "routing": {"App\\Message\\*": "async"},
///      "class_names": {"email.send": "App\\Message\\SendEmail"}}
struct MessageConfiguration {
  std::map<std::string, TransportConfiguration, std::less<>> transports;
  std::optional<std::string> failure_transport;
  Routes<std::string> routing;  ///< types, by either of their names, to the names of transports
  ClassNames class_names;
  std::string file;  ///< where it stands; empty: there is none

  /// Throws ConfigurationException that names the place: `errand.json: transports.async.dsn: …`,
  /// or the line and column where it is no JSON.
  [[nodiscard]] static MessageConfiguration parse(std::string_view json,
                                                  const std::string& file_name);

  /// Knows the class names.
  [[nodiscard]] SymfonySerializer serializer() const;

  /// `file` if it is not empty, else $ERRAND_CONFIG, else `errand.json` in the working directory if
  /// there is one; else an empty configuration.
  [[nodiscard]] static MessageConfiguration from_environment(const std::string& file = {});
};

/// Transports by name or DSN, each opened once, when it is first asked for. Thread-safe.
class OpenTransports {
 public:
  OpenTransports(MessageConfiguration configuration, TransportOptions options);

  /// Throws ConfigurationException with the names there are, and as open_transport(). `failed` is
  /// the queue of that name beside the configured ones, if they send their failures there.
  [[nodiscard]] Transport& get(const std::string& name_or_dsn);

  /// Where messages go that fail in this one: as configured, else queue `failed` beside it.
  [[nodiscard]] Transport& failure_of(const std::string& name_or_dsn);

  [[nodiscard]] ConsumedTransport consumed(const std::string& name_or_dsn);

  /// Where the configured transports send their failures: names that get() knows.
  [[nodiscard]] std::vector<std::string> failure_names() const;

  /// Whether it is one of them, or by its DSN a queue `failed` or a table `failed_messages`.
  [[nodiscard]] bool is_failure_transport(const std::string& name_or_dsn) const;

  /// As it was named, without secrets.
  [[nodiscard]] std::string name_for_people(const std::string& name_or_dsn) const;

  /// Whether the configuration has a transport of that name.
  [[nodiscard]] bool knows(const std::string& name) const { return configured(name) != nullptr; }

  [[nodiscard]] const MessageConfiguration& configuration() const noexcept {
    return configuration_;
  }

 private:
  [[nodiscard]] const TransportConfiguration* configured(const std::string& name) const;
  [[nodiscard]] Dsn dsn_of(const std::string& name_or_dsn) const;
  /// Whether somebody names it as failure transport.
  [[nodiscard]] bool holds_failures(const std::string& name) const;
  /// nullopt: the queue `failed` beside it.
  [[nodiscard]] std::optional<std::string> failure_name(const TransportConfiguration& of) const;
  [[nodiscard]] std::optional<std::string> failure_name_of(const std::string& name_or_dsn) const;
  /// What operators have to type, but for secrets.
  [[nodiscard]] std::string failure_called(const std::string& name_or_dsn) const;
  /// The queue `failed` beside configured transports whose failures go there; nullopt if none's
  /// do. Throws ConfigurationException if there are several.
  [[nodiscard]] std::optional<Dsn> implied_failure_queue() const;
  [[nodiscard]] Transport& open(const std::string& key, const std::string& name, const Dsn& dsn);

  const MessageConfiguration configuration_;
  const TransportOptions options_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::map<std::string, std::unique_ptr<Transport>> open_;
};

}  // namespace errand::detail
