#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "errand/dsn.hpp"
#include "errand/export.hpp"
#include "errand/transport.hpp"

/// What Symfony's Doctrine transport agrees on with everybody who shares its table, whatever the
/// database: names, times in whole seconds of UTC, headers as JSON.
namespace errand::detail {

using Seconds = std::chrono::sys_seconds;

/// The options of a DSN that concern the table, not the connection. The last three mean something
/// to PHP alone and are accepted so that one DSN serves both.
inline constexpr std::array<std::string_view, 8> kMessengerOptions{
    "table_name",   "queue_name",         "redeliver_timeout",      "auto_setup",
    "remove_after", "get_notify_timeout", "check_delayed_interval", "use_notify"};

struct MessengerTable {
  std::string name = "messenger_messages";
  std::string queue = "default";
  std::chrono::seconds redeliver_timeout{3600};
  bool auto_setup = true;
  /// How long consumed messages are kept; zero: not at all, as PHP does it.
  std::chrono::seconds remove_after{0};

  /// Where consumed messages are kept. A queue of their own and not a delivered_at in the far
  /// future: no consumer, count or list of PHP's looks at other queues than its own, they are out
  /// of the way of claims in the index, and delivered_at can say when they were consumed.
  [[nodiscard]] ERRAND_EXPORT std::string kept_queue() const;

  /// As Doctrine names it.
  [[nodiscard]] ERRAND_EXPORT std::string index_name() const;
};

/// Throws ConfigurationException that names the option.
[[nodiscard]] ERRAND_EXPORT MessengerTable messenger_table(const Dsn& dsn);

/// Whether what is missing may be made; `auto_setup` is what the DSN says.
[[nodiscard]] ERRAND_EXPORT bool may_set_up(const TransportOptions& options, bool auto_setup);

/// The name to send under: the one that was configured, else the queue's.
[[nodiscard]] ERRAND_EXPORT std::string transport_name(const TransportOptions& options,
                                                       const MessengerTable& table);

/// Throws ValidationException unless every text column can hold it.
ERRAND_EXPORT void check_outgoing(const Outgoing& message);

/// An object of texts; `[]`, PHP's empty array, if there are none.
[[nodiscard]] ERRAND_EXPORT std::string wire_headers_json(const Headers& headers);

/// Never throws: what is no object of texts comes back whole under kUnreadableHeaders.
[[nodiscard]] ERRAND_EXPORT Headers read_wire_headers(std::string_view json);

inline constexpr const char* kUnreadableHeaders = "X-Errand-Unreadable-Headers";

/// PHP drops what is less than a second.
[[nodiscard]] inline Seconds whole_seconds(Timestamp time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

/// Of a delay PHP drops it, too, and delivers early. Here it is rounded up: whoever asks for a
/// wait means at least that.
[[nodiscard]] ERRAND_EXPORT Seconds due_time(Timestamp now, std::chrono::milliseconds delay);
inline constexpr std::chrono::seconds kTableGranularity{1};

/// A Hold's mark is the delivered_at that was written last.
[[nodiscard]] ERRAND_EXPORT std::string hold_mark(Seconds delivered_at);

/// A hold, as statements take it.
///
/// The table has no column for an owner. But whoever takes a message over finds a delivered_at that
/// is redeliver_timeout old, and writes one that is at least so much later: a delivered_at from
/// `since` to less than redeliver_timeout after it is our own, be it that of the claim or of a
/// keep_alive() whose reply was lost.
struct HoldKey {
  std::int64_t id = 0;  ///< 0 is nobody's
  std::int64_t since = 0;
};
[[nodiscard]] ERRAND_EXPORT HoldKey hold_key(const Hold& hold);

/// 0, which is nobody's, for what is no number.
[[nodiscard]] ERRAND_EXPORT std::int64_t row_id(std::string_view id);

}  // namespace errand::detail
