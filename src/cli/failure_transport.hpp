#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "errand/exception_data.hpp"
#include "errand/transport.hpp"

#include "app/message_configuration.hpp"
#include "bus/symfony_serializer.hpp"
#include "cli/transport_options.hpp"

namespace errand::cli {

struct MessageFilter {
  std::string type;         ///< empty: any
  std::string error_class;  ///< empty: any
  std::int64_t page = 1;
  std::int64_t page_size = 20;
};

/// A message in a failure transport, with its story.
struct FailedMessage {
  StoredMessage stored;
  std::string id;  ///< what it was called from the start; stored.id is what it is called here
  std::string type;
  std::string failed_in;  ///< empty: nobody noted it
  ExceptionData error;
};

/// One failure transport as a call of the program uses it.
class FailureTransport {
 public:
  /// `retry_to`: name or DSN of the transport that retries go to; empty: where they came from.
  /// Throws ConfigurationException if nothing says that it is a failure transport, or retry_to is
  /// wrong, and as OpenTransports.
  explicit FailureTransport(const TransportChoice& choice, std::string retry_to = {});

  [[nodiscard]] Transport& transport() noexcept { return transport_; }

  /// By either of its ids.
  [[nodiscard]] std::optional<FailedMessage> find(const std::string& id);

  /// All that the filter chooses, the oldest first. Few of them are in memory at a time: bodies may
  /// be long, and failures many.
  void for_each(const MessageFilter& filter, const std::function<void(FailedMessage&)>& look);

  /// Throws ConfigurationException unless it is known where the message goes to be tried again.
  /// A name that the configuration does not have is not taken for a queue: it may be PHP's name of
  /// a transport, and the message would lie in a queue that nobody consumes.
  void require_way_back(const FailedMessage& message) const;

  /// Where the message goes to be tried again. Throws as require_way_back() and OpenTransports.
  [[nodiscard]] Transport& way_back(const FailedMessage& message);

 private:
  [[nodiscard]] const std::string& name_of_way_back(const FailedMessage& message) const;
  [[nodiscard]] FailedMessage read(StoredMessage stored) const;

  const std::string name_;
  const std::string retry_to_;
  detail::OpenTransports transports_;
  Transport& transport_;
  const detail::SymfonySerializer serializer_;
};

}  // namespace errand::cli
