#include "engine/postgres/transport.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "errand/errors.hpp"
#include "errand/postgres.hpp"

#include "bus/settle_elsewhere.hpp"
#include "engine/postgres/settings.hpp"

namespace errand {
namespace postgres {
namespace {

using detail::HoldKey;
using detail::Seconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Old kept messages are looked for at most this often, unless there are more than these.
constexpr seconds kBetweenRemovals{60};
constexpr std::size_t kMostRemoved = 1000;

/// One at a time makes tables; the number is this project's own.
constexpr const char* kLock = "SELECT pg_advisory_xact_lock(7205759403792795)";

/// By the rules of the search path, as the statements find it.
constexpr const char* kTableExists = "SELECT to_regclass($1) IS NOT NULL";

DatabaseSettings settings_of(const Dsn& dsn, const detail::MessengerTable& table) {
  DatabaseSettings settings = database_settings(dsn, detail::kMessengerOptions);
  settings.work = {.name = table.name, .has_trigger = true};
  return settings;
}

WireMessage read_message(const Result& result, int row) {
  return {std::string{result.text(row, 1)}, detail::read_wire_headers(result.text(row, 2))};
}

std::vector<StoredMessage> read_stored(const Result& result) {
  std::vector<StoredMessage> messages;
  for (int row = 0; row < result.rows(); ++row) {
    messages.push_back({.id = std::to_string(result.integer(row, 0)),
                        .message = read_message(result, row),
                        .created_at = result.time(row, 3),
                        .available_at = result.time(row, 4),
                        .delivered_at = result.optional_time(row, 5)});
  }
  return messages;
}

std::unordered_set<std::int64_t> read_ids(const Result& result) {
  std::unordered_set<std::int64_t> ids;
  for (int row = 0; row < result.rows(); ++row) ids.insert(result.integer(row, 0));
  return ids;
}

std::unordered_set<std::int64_t> read_all_ids(std::span<const Result> results) {
  std::unordered_set<std::int64_t> ids;
  for (const Result& result : results) ids.merge(read_ids(result));
  return ids;
}

/// Ids by the second in which they were taken: few, as a batch is claimed at once.
using BySecond = std::map<std::int64_t, std::vector<std::int64_t>>;

BySecond by_second(std::span<const Hold> holds) {
  BySecond grouped;
  for (const Hold& hold : holds) {
    const HoldKey key = detail::hold_key(hold);
    grouped[key.since].push_back(key.id);
  }
  return grouped;
}

Query insert_query(const std::string& sql, std::span<const Outgoing* const> messages,
                   const std::string& queue, Timestamp now) {
  Query query{sql.c_str()};
  add_messages(query.parameters, messages, queue, now);
  return query;
}

}  // namespace

PostgresTransport::PostgresTransport(const Dsn& dsn, const TransportOptions& options)
    : table_{detail::messenger_table(dsn)},
      name_{detail::transport_name(options, table_)},
      clock_{*options.clock},
      sql_{table_.name},
      insert_{insert_statement(table_.name)},
      database_{std::make_unique<Database>(settings_of(dsn, table_), *options.logger)},
      signals_{database_->signals(), table_.queue, true} {
  if (table_exists()) return;
  if (detail::may_set_up(options, table_.auto_setup)) {
    setup();
    return;
  }
  throw StorageException{dsn.to_string() + " has no table " + table_.name +
                             " yet; create it with `errand transport setup`",
                         StorageException::Retry::useless};
}

bool PostgresTransport::table_exists() {
  return database_->read([&](Connection& connection) {
    Query query{kTableExists};
    query.parameters.add(table_.name);
    return connection.run(std::move(query)).boolean(0, 0);
  });
}

void PostgresTransport::setup() {
  database_->write_in_steps([&](Connection& connection, Changes&) {
    connection.execute(kLock);
    connection.execute_script(setup_script(table_));
    return true;
  });
}

Query PostgresTransport::of_holds(const std::string& sql, const std::vector<std::int64_t>& ids,
                                  std::int64_t since) const {
  const Seconds taken{seconds{since}};
  Query query{sql.c_str()};
  query.parameters.add(table_.queue)
      .add(std::span<const std::int64_t>{ids})
      .add(Timestamp{taken})
      .add(Timestamp{taken + table_.redeliver_timeout});
  return query;
}

Query PostgresTransport::of_queue(const std::string& sql, Seconds at) const {
  Query query{sql.c_str()};
  query.parameters.add(table_.queue)
      .add(Timestamp{at})
      .add(Timestamp{at - table_.redeliver_timeout});
  return query;
}

const std::string& PostgresTransport::forward_to(const std::string& table) {
  const std::lock_guard lock{mutex_};
  const auto [entry, added] = forwards_.try_emplace(table);
  if (added) entry->second = forward_statement(table_.name, table);
  return entry->second;
}

const std::string& PostgresTransport::move_to(const std::string& table) {
  const std::lock_guard lock{mutex_};
  const auto [entry, added] = moves_.try_emplace(table);
  if (added) entry->second = move_statement(table_.name, table);
  return entry->second;
}

void PostgresTransport::send(std::span<const Outgoing> messages) {
  if (messages.empty()) return;
  std::vector<const Outgoing*> all;
  for (const Outgoing& message : messages) {
    detail::check_outgoing(message);
    all.push_back(&message);
  }
  database_->write([&](Connection& connection, Changes& changes) {
    connection.run(insert_query(insert_, all, table_.queue, exactly_now()));
    changes.queues.push_back(table_.queue);
    return true;
  });
}

std::vector<Delivery> PostgresTransport::receive(std::size_t limit) {
  if (limit == 0) return {};
  const Seconds at = now();
  struct Ranked {
    Timestamp available_at;
    std::int64_t id;
    Delivery delivery;
  };
  std::vector<Ranked> batch = database_->write([&](Connection& connection, Changes&) {
    Query query = of_queue(sql_.claim, at);
    query.parameters.add(static_cast<std::int64_t>(limit));
    const Result result = connection.run(std::move(query));
    std::vector<Ranked> found;
    for (int row = 0; row < result.rows(); ++row) {
      const std::int64_t id = result.integer(row, 0);
      found.push_back({.available_at = result.time(row, 3),
                       .id = id,
                       .delivery = {.hold = {std::to_string(id), detail::hold_mark(at)},
                                    .message = read_message(result, row)}});
    }
    return found;
  });
  // RETURNING gives rows in any order.
  std::ranges::sort(batch, [](const Ranked& a, const Ranked& b) {
    return std::pair{a.available_at, a.id} < std::pair{b.available_at, b.id};
  });
  std::vector<Delivery> deliveries;
  deliveries.reserve(batch.size());
  for (Ranked& ranked : batch) deliveries.push_back(std::move(ranked.delivery));
  return deliveries;
}

std::vector<std::optional<Hold>> PostgresTransport::keep_alive(std::span<const Hold> holds) {
  std::vector<std::optional<Hold>> kept;
  if (holds.empty()) return kept;
  const Seconds at = now();
  const std::unordered_set<std::int64_t> ids =
      database_->write([&](Connection& connection, Changes&) {
        std::vector<Query> queries;
        for (const auto& [since, of_second] : by_second(holds)) {
          queries.push_back(of_holds(sql_.keep_alive, of_second, since));
          queries.back().parameters.add(Timestamp{at});
        }
        return read_all_ids(connection.run(queries));
      });
  for (const Hold& hold : holds) {
    kept.push_back(ids.contains(detail::hold_key(hold).id)
                       ? std::optional{Hold{hold.id, detail::hold_mark(at)}}
                       : std::nullopt);
  }
  return kept;
}

bool PostgresTransport::is_same_queue(const Transport& other) const {
  const PostgresTransport* transport = on_same_server(&other);
  return transport != nullptr && transport->table_.name == table_.name &&
         transport->table_.queue == table_.queue;
}

const PostgresTransport* PostgresTransport::on_same_server(const Transport* other) const {
  const auto* transport = dynamic_cast<const PostgresTransport*>(other);
  if (transport == nullptr) return nullptr;
  const bool same =
      transport->database_->settings().connection.uri == database_->settings().connection.uri;
  return same ? transport : nullptr;
}

bool PostgresTransport::is_time_to_remove_kept(Seconds at) {
  if (table_.remove_after.count() == 0) return false;
  const std::lock_guard lock{mutex_};
  if (at < kept_removed_at_ + kBetweenRemovals) return false;
  kept_removed_at_ = at;
  return true;
}

void PostgresTransport::remove_kept_again() {
  const std::lock_guard lock{mutex_};
  kept_removed_at_ = {};
}

std::vector<MessageSettleStatus> PostgresTransport::settle_here(
    std::span<const MessageSettlement> settlements) {
  struct Group {
    std::vector<std::int64_t> ids;
    std::vector<const Outgoing*> messages;
  };
  // By what follows, null for nothing, and by the second in which they were taken.
  std::map<std::pair<const PostgresTransport*, std::int64_t>, Group> groups;
  for (const MessageSettlement& settlement : settlements) {
    const HoldKey key = detail::hold_key(settlement.hold);
    const Transport* target = settlement.forward ? settlement.forward->to : nullptr;
    Group& group = groups[{on_same_server(target), key.since}];
    group.ids.push_back(key.id);
    if (settlement.forward) group.messages.push_back(&settlement.forward->message);
  }
  const Seconds at = now();
  const bool removes_kept = is_time_to_remove_kept(at);
  std::unordered_set<std::int64_t> ended =
      database_->write([&](Connection& connection, Changes& changes) {
        std::vector<Query> queries;
        for (const auto& [key, group] : groups) {
          const auto& [to, since] = key;
          if (to != nullptr) {
            Query query = of_holds(forward_to(to->table_.name), group.ids, since);
            add_messages(query.parameters, group.messages, to->table_.queue, to->exactly_now());
            queries.push_back(std::move(query));
            if (to == this) changes.queues.push_back(table_.queue);
          } else if (table_.remove_after.count() > 0) {
            Query query = of_holds(sql_.keep, group.ids, since);
            query.parameters.add(table_.kept_queue()).add(Timestamp{at});
            queries.push_back(std::move(query));
          } else {
            queries.push_back(of_holds(sql_.end, group.ids, since));
          }
        }
        if (removes_kept) {
          Query query{sql_.remove_kept.c_str()};
          query.parameters.add(table_.kept_queue()).add(Timestamp{at - table_.remove_after});
          queries.push_back(std::move(query));
        }
        const std::vector<Result> results = connection.run(queries);
        if (removes_kept && results.back().affected() >= kMostRemoved) remove_kept_again();
        return read_all_ids(std::span{results}.first(groups.size()));
      });
  std::vector<MessageSettleStatus> statuses;
  for (const MessageSettlement& settlement : settlements) {
    // Erased, so that a message that comes twice ends once.
    statuses.push_back(ended.erase(detail::hold_key(settlement.hold).id) == 1
                           ? MessageSettleStatus::settled
                           : MessageSettleStatus::lost);
  }
  return statuses;
}

std::vector<MessageSettleStatus> PostgresTransport::settle(
    std::span<const MessageSettlement> settlements) {
  return detail::settle_here_and_elsewhere(
      *this, settlements,
      [this](const MessageSettlement& one) {
        return !one.forward || on_same_server(one.forward->to) != nullptr;
      },
      [this](std::span<const MessageSettlement> here) { return settle_here(here); });
}

void PostgresTransport::release(std::span<const Hold> holds) {
  if (holds.empty()) return;
  database_->write([&](Connection& connection, Changes& changes) {
    std::vector<Query> queries;
    for (const auto& [since, ids] : by_second(holds)) {
      queries.push_back(of_holds(sql_.release, ids, since));
    }
    connection.run(queries);
    changes.queues.push_back(table_.queue);
    return true;
  });
}

std::optional<milliseconds> PostgresTransport::next_due() {
  const Timestamp exactly = clock_.now();
  const Result result = database_->read([&](Connection& connection) {
    return connection.run(of_queue(sql_.next_due, detail::whole_seconds(exactly)));
  });
  if (result.rows() == 0) return std::nullopt;
  return std::chrono::ceil<milliseconds>(result.time(0, 0) - exactly);
}

TransportStats PostgresTransport::stats() {
  const Timestamp exactly = clock_.now();
  const Result result = database_->read([&](Connection& connection) {
    return connection.run(of_queue(sql_.stats, detail::whole_seconds(exactly)));
  });
  TransportStats stats{.ready = result.integer(0, 0),
                       .delayed = result.integer(0, 1),
                       .in_flight = result.integer(0, 2)};
  if (const auto oldest = result.optional_time(0, 3)) {
    stats.oldest_ready = std::chrono::floor<milliseconds>(exactly - *oldest);
  }
  return stats;
}

std::vector<StoredMessage> PostgresTransport::list(std::size_t limit, std::size_t offset) {
  return database_->read([&](Connection& connection) {
    Query query{sql_.list.c_str()};
    query.parameters.add(table_.queue)
        .add(static_cast<std::int64_t>(limit))
        .add(static_cast<std::int64_t>(offset));
    return read_stored(connection.run(std::move(query)));
  });
}

std::optional<StoredMessage> PostgresTransport::find(const std::string& id) {
  std::vector<StoredMessage> found = database_->read([&](Connection& connection) {
    Query query{sql_.find.c_str()};
    query.parameters.add(table_.queue).add(detail::row_id(id));
    return read_stored(connection.run(std::move(query)));
  });
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::size_t PostgresTransport::remove(std::span<const std::string> ids) {
  if (ids.empty()) return 0;
  std::vector<std::int64_t> numbers;
  for (const std::string& id : ids) numbers.push_back(detail::row_id(id));
  return database_->write([&](Connection& connection, Changes&) {
    Query query{sql_.remove.c_str()};
    query.parameters.add(table_.queue)
        .add(std::span<const std::int64_t>{numbers})
        .add(Timestamp{now() - table_.redeliver_timeout});
    return connection.run(std::move(query)).affected();
  });
}

MoveStatus PostgresTransport::move(const std::string& id,
                                   const MessageSettlement::Forward& forward) {
  const PostgresTransport* to = on_same_server(forward.to);
  if (to == nullptr) return detail::move_elsewhere(*this, id, forward, exactly_now());
  const std::size_t moved = database_->write([&](Connection& connection, Changes& changes) {
    Query query{move_to(to->table_.name).c_str()};
    query.parameters.add(table_.queue)
        .add(detail::row_id(id))
        .add(Timestamp{now() - table_.redeliver_timeout});
    const Outgoing* message = &forward.message;
    add_messages(query.parameters, {&message, 1}, to->table_.queue, to->exactly_now());
    if (to == this) changes.queues.push_back(table_.queue);
    return connection.run(std::move(query)).affected();
  });
  return moved == 1 ? MoveStatus::moved : MoveStatus::left_alone;
}

std::size_t PostgresTransport::purge() {
  return database_->write([&](Connection& connection, Changes&) {
    Query query{sql_.purge.c_str()};
    query.parameters.add(table_.queue);
    return connection.run(std::move(query)).affected();
  });
}

}  // namespace postgres

std::unique_ptr<Transport> open_postgres_transport(const Dsn& dsn,
                                                   const TransportOptions& options) {
  return std::make_unique<postgres::PostgresTransport>(dsn, options);
}

}  // namespace errand
