#pragma once

#include <span>
#include <string>

#include "errand/transport.hpp"

#include "bus/messenger_table.hpp"
#include "engine/postgres/connection.hpp"

namespace errand::postgres {

/// The statements on one table of messages. `now` and `before` are timestamps without time zone;
/// times in arrays are whole seconds since 1970.
///
/// Where holds are asked for, 1 queue_name, array 2 id, 3 since, 4 before: all of them were taken
/// in one second; see detail::HoldKey. A join with the times of each would be planned by what the
/// server believes of a table that was empty a moment ago, and take seconds.
struct TransportStatements {
  explicit TransportStatements(const std::string& table);

  std::string claim;        ///< 1 queue_name, 2 now, 3 before, 4 limit
  std::string keep_alive;   ///< a hold, 5 now; returns the ids
  std::string end;          ///< a hold; returns the ids
  std::string keep;         ///< as `end`, leaving the messages in queue 5, delivered at 6
  std::string remove_kept;  ///< 1 queue_name, 2 consumed before
  std::string release;      ///< a hold
  std::string next_due;     ///< 1 queue_name, 2 now, 3 before
  std::string stats;        ///< 1 queue_name, 2 now, 3 before
  std::string list;         ///< 1 queue_name, 2 limit, 3 offset
  std::string find;         ///< 1 queue_name, 2 id
  std::string remove;       ///< 1 queue_name, array 2 id, 3 before: what nobody holds
  std::string purge;        ///< 1 queue_name
};

/// Arrays: 1 body, 2 headers, 3 available_at; 4 queue_name, 5 created_at.
[[nodiscard]] std::string insert_statement(const std::string& table);
/// Ends deliveries and writes others in their place: as `end`, with arrays 5 body, 6 headers,
/// 7 available_at beside the ids; 8 queue_name, 9 created_at. One statement: only what was still
/// held is forwarded.
[[nodiscard]] std::string forward_statement(const std::string& table, const std::string& to);

/// Takes a message that nobody holds and writes another in its place: 1 queue_name, 2 id, 3 before,
/// then as the insert, from 4 on. Affects one row, or none.
[[nodiscard]] std::string move_statement(const std::string& table, const std::string& to);

/// The arrays of messages, as all of them take them.
void add_messages(Parameters& parameters, std::span<const Outgoing* const> messages,
                  const std::string& queue, Timestamp now);

/// Everything that Symfony's setup makes, as one script; what exists is left as it is.
[[nodiscard]] std::string setup_script(const detail::MessengerTable& table);

}  // namespace errand::postgres
