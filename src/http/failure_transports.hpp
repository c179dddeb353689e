#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/failure_transport.hpp"
#include "app/message_configuration.hpp"

namespace errand::http {

/// The failure transports that the configuration names. Opened when they are first asked for.
/// Thread-safe.
class FailureTransports {
 public:
  explicit FailureTransports(detail::MessageConfiguration configuration);

  /// By name; empty: nobody named one.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  /// The one called `name`, which need not be said where there is only one. Retries go to the
  /// transport called `to`, or back to where the messages failed. Names only: whoever may ask this
  /// server does not choose what it connects to. Throws Problem 404 and StorageException.
  [[nodiscard]] detail::FailureTransport open(const std::optional<std::string>& name,
                                              const std::optional<std::string>& to = {});

 private:
  detail::OpenTransports transports_;
  std::vector<std::string> names_;
};

}  // namespace errand::http
