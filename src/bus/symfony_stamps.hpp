#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "errand/envelope.hpp"
#include "errand/export.hpp"

/// Symfony's stamps: each class has a header of its own, a JSON array of all stamps of that class,
/// the oldest first.
namespace errand::detail {

inline constexpr std::string_view kStampPrefix = "X-Message-Stamp-";

#define ERRAND_SYMFONY_STAMP(name) "X-Message-Stamp-Symfony\\Component\\Messenger\\Stamp\\" name
inline constexpr const char* kDelayStamp = ERRAND_SYMFONY_STAMP("DelayStamp");
inline constexpr const char* kRedeliveryStamp = ERRAND_SYMFONY_STAMP("RedeliveryStamp");
inline constexpr const char* kErrorDetailsStamp = ERRAND_SYMFONY_STAMP("ErrorDetailsStamp");
inline constexpr const char* kSentToFailureStamp =
    ERRAND_SYMFONY_STAMP("SentToFailureTransportStamp");
inline constexpr const char* kMessageIdStamp = ERRAND_SYMFONY_STAMP("TransportMessageIdStamp");
#undef ERRAND_SYMFONY_STAMP

/// The last stamp of that class; nullopt if there is none or it is unreadable.
[[nodiscard]] ERRAND_EXPORT std::optional<boost::json::object> last_stamp(const Headers& headers,
                                                                          std::string_view stamp);

/// Adds one to those of that class. What stood there and is no array of stamps is kept beside
/// them, under a name that PHP does not look at.
ERRAND_EXPORT void add_stamp(Headers& headers, const std::string& stamp,
                             const boost::json::object& value);

/// Leaves the first and the latest nine of that class, as Symfony does with those that would
/// otherwise grow with each retry.
ERRAND_EXPORT void cut_stamps(Headers& headers, std::string_view stamp);

/// The first stamp header that is no array of objects: the other side could not read the message.
[[nodiscard]] ERRAND_EXPORT std::optional<std::string> find_bad_stamp(const Headers& headers);

/// Renames such headers, so that the other side ignores what would make it throw the message away.
ERRAND_EXPORT void set_bad_stamps_aside(Headers& headers);

/// What the message is called in all its attempts: the oldest id that was noted on it. Whoever
/// receives a message notes the id it has there, and all of them stay: PHP's retries keep it, too.
/// nullopt: none was noted yet.
[[nodiscard]] ERRAND_EXPORT std::optional<std::string> message_id(const Headers& headers);

/// Notes what the message is called, unless somebody has before.
ERRAND_EXPORT void note_message_id(Headers& headers, std::string_view id);

/// How often the message was tried again.
[[nodiscard]] ERRAND_EXPORT int retry_count(const Headers& headers);

}  // namespace errand::detail
