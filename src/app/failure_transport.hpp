#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "errand/exception_data.hpp"
#include "errand/transport.hpp"

#include "app/message_configuration.hpp"
#include "bus/symfony_serializer.hpp"

namespace errand::detail {

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

/// As `--json` and the HTTP API give it.
[[nodiscard]] boost::json::object to_json(const FailedMessage& message);

/// The messages of one page, the newest first, out of all that the filter chooses.
struct MessagePage {
  std::vector<FailedMessage> items;
  std::int64_t total = 0;
};

/// What became of a message that was to be tried again.
struct SecondChance {
  enum class Outcome : std::uint8_t {
    sent,
    sent_twice,  ///< somebody else took it at the same moment: it may be handled twice
    in_flight,   ///< a consumer of the failure transport has it: it is left alone
    gone,
  };
  Outcome outcome = Outcome::gone;
  std::string to{};  ///< where it was sent

  [[nodiscard]] bool is_sent() const noexcept {
    return outcome == Outcome::sent || outcome == Outcome::sent_twice;
  }
};

/// One failure transport as a call of the program uses it.
class FailureTransport {
 public:
  /// `retry_to`: name or DSN of the transport that retries go to; empty: where they came from.
  /// `holds_failures`: a DSN is taken for one of failures though nothing else says so. `transports`
  /// must outlive it. Throws ConfigurationException if nothing says that it is a failure transport,
  /// or retry_to is wrong, and as OpenTransports.
  FailureTransport(OpenTransports& transports, std::string name, std::string retry_to = {},
                   bool holds_failures = false);

  [[nodiscard]] Transport& transport() noexcept { return transport_; }

  /// By either of its ids.
  [[nodiscard]] std::optional<FailedMessage> find(const std::string& id);

  /// All that the filter chooses, the oldest first. Few of them are in memory at a time: bodies may
  /// be long, and failures many.
  void for_each(const MessageFilter& filter, const std::function<void(FailedMessage&)>& look);

  [[nodiscard]] MessagePage page(const MessageFilter& filter);

  /// Moves it to where it goes to be tried again, as Transport::move(). Throws as way_back().
  SecondChance send_again(const std::string& id);

  /// Whether require_way_back() would not throw.
  [[nodiscard]] bool knows_way_back(const FailedMessage& message) const;

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
  OpenTransports& transports_;
  Transport& transport_;
  const SymfonySerializer serializer_;
};

}  // namespace errand::detail
