#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "errand/codec.hpp"
#include "errand/envelope.hpp"
#include "errand/export.hpp"
#include "errand/message.hpp"
#include "errand/transport.hpp"

namespace errand {

class Rules;

/// What types are called on the wire: `email.send` there is `App\Message\SendEmail`. Types that are
/// not named are called the same on both sides.
using ClassNames = std::map<std::string, std::string>;

struct SendOptions {
  std::chrono::milliseconds delay{0};  ///< deliver it not before this time has passed
  Headers headers{};                   ///< travel with the message, unchanged
};

/// Sends messages without a record: nobody waits for a result. Which transport each goes to is
/// decided by its type.
///
///     errand::Bus bus{types, {{"email.send", "App\\Message\\SendEmail"}}};
///     bus.route("email.*", *mail).route("*", *async);
///     bus.send(SendEmail{"a@b.c", "hello"});
///
/// Fill it first; then it may be used from any thread.
class ERRAND_EXPORT Bus {
 public:
  /// `types` must outlive the bus. Throws ConfigurationException if two types share a class.
  explicit Bus(const MessageTypes& types, const ClassNames& class_names = {});
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  /// Messages of `type` go to `transport`, which must outlive the bus. The type may be given by
  /// either of its names, as here or as on the wire. One that ends in `*` means all that begin so;
  /// of several that fit, the longest counts, an exact one before all. Throws
  /// ConfigurationException if it has a route already.
  Bus& route(const std::string& type, Transport& transport);

  /// Messages are checked before they are sent; `rules` must outlive the bus.
  Bus& check_by(const Rules& rules);

  /// Durable on return. Throws ConfigurationException if the type has no name or no route,
  /// ValidationException for what JSON cannot hold and for what nobody could read: a type of no
  /// bytes or of more than 190, a stamp in `headers` that is no JSON array of objects, a header
  /// `type` or `Content-Type`, which the bus writes itself;
  /// StorageException.
  ///
  /// Returns the message's id, a UUID that goes with it in a stamp of Symfony's: the same through
  /// all retries and in the failure transport, on both sides.
  template <class Message>
  std::string send(const Message& message, const SendOptions& options = {}) {
    return send_json(types_.name_of<Message>(), encode(message), options);
  }
  std::string send_json(const std::string& type, std::string body, const SendOptions& options = {});

  /// Many messages of one type at once: all of them, or none.
  template <class Messages>
  void send_all(const Messages& messages, const SendOptions& options = {}) {
    using Message = typename Messages::value_type;
    std::vector<Outgoing> outgoing;
    for (const Message& message : messages) outgoing.push_back(prepare(message, options));
    transport_for(types_.name_of<Message>()).send(outgoing);
  }

  /// What send() would send, for those who do it themselves, as in a transaction of their own: see
  /// send_in_transaction() in postgres.hpp and sqlite.hpp.
  template <class Message>
  [[nodiscard]] Outgoing prepare(const Message& message, const SendOptions& options = {}) const {
    return prepare_json(types_.name_of<Message>(), encode(message), options);
  }
  [[nodiscard]] Outgoing prepare_json(const std::string& type, std::string body,
                                      const SendOptions& options = {}) const;

  /// Throws ConfigurationException if there is none.
  [[nodiscard]] Transport& transport_for(std::string_view type) const;

 private:
  class Impl;
  const MessageTypes& types_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errand
