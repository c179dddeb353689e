#include "engine/sqlite/transport.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "errand/errors.hpp"
#include "errand/sqlite.hpp"

#include "bus/settle_elsewhere.hpp"
#include "engine/sqlite/file_checks.hpp"
#include "engine/sqlite/settings.hpp"

namespace errand {
namespace sqlite {
namespace {

using detail::HoldKey;
using detail::MessengerTable;
using detail::Seconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Old kept messages are looked for at most this often.
constexpr seconds kBetweenRemovals{60};
constexpr std::int64_t kMostRemoved = 1000;

std::string time_text(Seconds time) {
  constexpr std::size_t kToSeconds = 19;
  return to_sql_time(time).substr(0, kToSeconds);
}

std::string time_text(std::int64_t time) { return time_text(Seconds{seconds{time}}); }

/// What PHP may have written is not worth more than a message: an unreadable time is the first.
Timestamp read_time(std::string_view text) { return parse_sql_time(text).value_or(Timestamp{}); }

WireMessage read_message(const Statement& row, int body, int headers) {
  return {std::string{row.text(body)}, detail::read_wire_headers(row.text(headers))};
}

StoredMessage read_stored(const Statement& row) {
  return {.id = std::to_string(row.integer(0)),
          .message = read_message(row, 1, 2),
          .created_at = read_time(row.text(3)),
          .available_at = read_time(row.text(4)),
          .delivered_at =
              row.is_null(5) ? std::nullopt : std::optional<Timestamp>{read_time(row.text(5))}};
}

/// As Symfony makes it, with the one index of its newer versions.
std::string create_table(const MessengerTable& table) {
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {0} (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "
      "body CLOB NOT NULL, headers CLOB NOT NULL, queue_name VARCHAR(190) NOT NULL, "
      "created_at DATETIME NOT NULL, available_at DATETIME NOT NULL, "
      "delivered_at DATETIME DEFAULT NULL);"
      "CREATE INDEX IF NOT EXISTS {1} ON {0} (queue_name, available_at, delivered_at, id)",
      table.name, table.index_name());
}

Database::Settings settings_of(const Dsn& dsn, const TransportOptions& options) {
  Database::Settings settings = database_settings(dsn, *options.clock, detail::kMessengerOptions);
  const bool existing = options.open == TransportOptions::Open::existing;
  if (existing) settings.connection.mode = Connection::Mode::existing;
  if (existing && !std::filesystem::exists(dsn.path())) {
    throw StorageException{"there is no file " + dsn.path() +
                               "; check the DSN, or create it with `errand transport setup`",
                           StorageException::Retry::useless};
  }
  require_usable(dsn.path());
  return settings;
}

/// Of one queue: what can be received, by ?2 now and ?3 the limit of redelivery.
constexpr const char* kDue =
    "queue_name = ?1 AND (delivered_at IS NULL OR delivered_at < ?3) AND available_at <= ?2";

/// A hold: ?1 id, ?2 queue_name, ?3 and ?4 its time; see HoldKey.
constexpr const char* kHeld =
    "id = ?1 AND queue_name = ?2 AND delivered_at >= ?3 AND delivered_at <= ?4";

}  // namespace

TransportStatements::TransportStatements(const std::string& table)
    : table_exists{fmt::format("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '{}'",
                               table)},
      any_due{fmt::format("SELECT 1 FROM {} WHERE {} LIMIT 1", table, kDue)},
      // One statement, so that choosing and taking cannot come apart. 4: limit.
      claim{
          fmt::format("UPDATE {0} SET delivered_at = ?2 WHERE id IN (SELECT id FROM {0} WHERE {1} "
                      "ORDER BY available_at, delivered_at, id LIMIT ?4) "
                      "RETURNING id, body, headers, available_at",
                      table, kDue)},
      keep_alive{fmt::format("UPDATE {} SET delivered_at = ?5 WHERE {}", table, kHeld)},
      end{fmt::format("DELETE FROM {} WHERE {}", table, kHeld)},
      keep{fmt::format("UPDATE {} SET queue_name = ?5, delivered_at = ?6 WHERE {}", table, kHeld)},
      remove_kept{fmt::format("DELETE FROM {0} WHERE id IN (SELECT id FROM {0} "
                              "WHERE queue_name = ?1 AND available_at < ?2 AND delivered_at < ?2 "
                              "LIMIT 1000)",
                              table)},
      release{fmt::format("UPDATE {} SET delivered_at = NULL WHERE {}", table, kHeld)},
      next_due{fmt::format("SELECT min(available_at) FROM {} WHERE queue_name = ?1 AND "
                           "available_at > ?2 AND (delivered_at IS NULL OR delivered_at < ?3)",
                           table)},
      stats{fmt::format(
          "SELECT coalesce(sum(available_at <= ?2 AND NOT held), 0), "
          "coalesce(sum(available_at > ?2 AND NOT held), 0), coalesce(sum(held), 0), "
          "min(CASE WHEN available_at <= ?2 AND NOT held THEN available_at END) FROM "
          "(SELECT available_at, delivered_at IS NOT NULL AND delivered_at >= ?3 AS held "
          "FROM {} WHERE queue_name = ?1)",
          table)},
      // The ids alone are sorted: with their bodies, all before the page would be in memory.
      list{fmt::format("SELECT id, body, headers, created_at, available_at, delivered_at FROM {0} "
                       "WHERE id IN (SELECT id FROM {0} WHERE queue_name = ?1 "
                       "ORDER BY id LIMIT ?2 OFFSET ?3) ORDER BY id",
                       table)},
      find{fmt::format("SELECT id, body, headers, created_at, available_at, delivered_at FROM {} "
                       "WHERE queue_name = ?1 AND id = ?2",
                       table)},
      remove{fmt::format("DELETE FROM {} WHERE queue_name = ?1 AND id = ?2 "
                         "AND (delivered_at IS NULL OR delivered_at < ?3)",
                         table)},
      purge{fmt::format("DELETE FROM {} WHERE queue_name = ?1", table)} {}

std::string MessageInsert::statement(const std::string& table) {
  return fmt::format(
      "INSERT INTO {} (body, headers, queue_name, created_at, available_at) "
      "VALUES (?1, ?2, ?3, ?4, ?5)",
      table);
}

void MessageInsert::run(Statement& statement, const std::string& queue, const Outgoing& message,
                        Timestamp now) {
  const std::string headers = detail::wire_headers_json(message.message.headers);
  const std::string created_at = time_text(detail::whole_seconds(now));
  const std::string available_at = time_text(detail::due_time(now, message.delay));
  statement.bind(1, message.message.body)
      .bind(2, headers)
      .bind(3, queue)
      .bind(4, created_at)
      .bind(5, available_at)
      .run();
}

SqliteTransport::SqliteTransport(const Dsn& dsn, const TransportOptions& options)
    : table_{detail::messenger_table(dsn)},
      name_{detail::transport_name(options, table_)},
      sql_{table_.name},
      database_{std::make_unique<Database>(settings_of(dsn, options))},
      signals_{*database_, table_.queue, false} {
  if (table_exists()) return;
  if (detail::may_set_up(options, table_.auto_setup)) {
    setup();
    return;
  }
  throw StorageException{
      dsn.path() + " has no table " + table_.name + " yet; create it with `errand transport setup`",
      StorageException::Retry::useless};
}

bool SqliteTransport::table_exists() {
  return database_->read([&](Connection& connection) {
    Statement& row = connection.prepare(sql_.table_exists.c_str());
    const bool exists = row.step();
    row.reset();
    return exists;
  });
}

void SqliteTransport::setup() {
  database_->write([&](Connection& connection, Changes&) {
    connection.execute(create_table(table_));
    return true;
  });
}

const char* SqliteTransport::insert_into(const std::string& table) {
  const std::lock_guard lock{inserts_mutex_};
  const auto [entry, added] = inserts_.try_emplace(table);
  if (added) entry->second = MessageInsert::statement(table);
  return entry->second.c_str();
}

std::string SqliteTransport::redelivered_before(Seconds now) const {
  return time_text(now - table_.redeliver_timeout);
}

void SqliteTransport::send(std::span<const Outgoing> messages) {
  if (messages.empty()) return;
  for (const Outgoing& message : messages) detail::check_outgoing(message);
  const char* insert = insert_into(table_.name);
  database_->write([&](Connection& connection, Changes& changes) {
    for (const Outgoing& message : messages) {
      MessageInsert::run(connection.prepare(insert), table_.queue, message, exactly_now());
    }
    changes.work = true;
    changes.queues.push_back(table_.queue);
    return true;
  });
}

std::vector<Delivery> SqliteTransport::receive(std::size_t limit) {
  if (limit == 0) return {};
  const Seconds at = now();
  const std::string now_text = time_text(at);
  const std::string before = redelivered_before(at);
  // Looking first leaves the file to those who write, while there is nothing to do.
  const bool any = database_->read([&](Connection& connection) {
    Statement& row = connection.prepare(sql_.any_due.c_str());
    const bool found = row.bind(1, table_.queue).bind(2, now_text).bind(3, before).step();
    row.reset();
    return found;
  });
  if (!any) return {};

  /// RETURNING gives rows in the order of the update, not in that of the choice.
  std::map<std::pair<std::string, std::int64_t>, Delivery> ordered;
  database_->write([&](Connection& connection, Changes&) {
    ordered.clear();
    Statement& row = connection.prepare(sql_.claim.c_str());
    row.bind(1, table_.queue)
        .bind(2, now_text)
        .bind(3, before)
        .bind(4, static_cast<std::int64_t>(limit));
    while (row.step()) {
      const std::int64_t id = row.integer(0);
      ordered.emplace(std::pair{std::string{row.text(3)}, id},
                      Delivery{.hold = {std::to_string(id), detail::hold_mark(at)},
                               .message = read_message(row, 1, 2)});
    }
    return true;
  });
  std::vector<Delivery> deliveries;
  deliveries.reserve(ordered.size());
  for (auto& [place, delivery] : ordered) deliveries.push_back(std::move(delivery));
  return deliveries;
}

std::vector<std::optional<Hold>> SqliteTransport::keep_alive(std::span<const Hold> holds) {
  std::vector<std::optional<Hold>> kept;
  if (holds.empty()) return kept;
  const Seconds at = now();
  const std::string now_text = time_text(at);
  database_->write([&](Connection& connection, Changes&) {
    kept.clear();
    for (const Hold& hold : holds) {
      const HoldKey key = detail::hold_key(hold);
      const std::string since = time_text(key.since);
      const std::string until = time_text(key.since + table_.redeliver_timeout.count());
      connection.prepare(sql_.keep_alive.c_str())
          .bind(1, key.id)
          .bind(2, table_.queue)
          .bind(3, since)
          .bind(4, until)
          .bind(5, now_text)
          .run();
      kept.push_back(connection.changes() == 1 ? std::optional{Hold{hold.id, detail::hold_mark(at)}}
                                               : std::nullopt);
    }
    return true;
  });
  return kept;
}

bool SqliteTransport::is_same_queue(const Transport& other) const {
  const SqliteTransport* transport = in_same_file(&other);
  return transport != nullptr && transport->table_.name == table_.name &&
         transport->table_.queue == table_.queue;
}

const SqliteTransport* SqliteTransport::in_same_file(const Transport* other) const {
  const auto* transport = dynamic_cast<const SqliteTransport*>(other);
  if (transport == nullptr) return nullptr;
  const bool same =
      wake_path(transport->database_->settings().path) == wake_path(database_->settings().path);
  return same ? transport : nullptr;
}

bool SqliteTransport::end(Connection& connection, const MessageSettlement& settlement, Seconds at) {
  const HoldKey key = detail::hold_key(settlement.hold);
  const std::string since = time_text(key.since);
  const std::string until = time_text(key.since + table_.redeliver_timeout.count());
  const std::string kept_queue = table_.kept_queue();
  const std::string now_text = time_text(at);
  const bool keeps = table_.remove_after.count() > 0 && !settlement.forward;
  Statement& statement = connection.prepare(keeps ? sql_.keep.c_str() : sql_.end.c_str());
  statement.bind(1, key.id).bind(2, table_.queue).bind(3, since).bind(4, until);
  if (keeps) statement.bind(5, kept_queue).bind(6, now_text);
  statement.run();
  return connection.changes() == 1;
}

void SqliteTransport::remove_kept(Connection& connection, Seconds at) {
  if (table_.remove_after.count() == 0 || at < kept_removed_at_ + kBetweenRemovals) return;
  kept_removed_at_ = at;
  const std::string kept_queue = table_.kept_queue();
  const std::string before = time_text(at - table_.remove_after);
  connection.prepare(sql_.remove_kept.c_str()).bind(1, kept_queue).bind(2, before).run();
  if (connection.changes() >= kMostRemoved) kept_removed_at_ = {};  // there may be more
}

std::vector<MessageSettleStatus> SqliteTransport::settle(
    std::span<const MessageSettlement> settlements) {
  return detail::settle_here_and_elsewhere(
      *this, settlements,
      [this](const MessageSettlement& one) {
        return !one.forward || in_same_file(one.forward->to) != nullptr;
      },
      [this](std::span<const MessageSettlement> here) { return settle_here(here); });
}

std::vector<MessageSettleStatus> SqliteTransport::settle_here(
    std::span<const MessageSettlement> settlements) {
  std::vector<MessageSettleStatus> statuses(settlements.size(), MessageSettleStatus::lost);
  database_->write([&](Connection& connection, Changes& changes) {
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      if (!end(connection, settlements[i], now())) continue;
      statuses[i] = MessageSettleStatus::settled;
      const auto& forward = settlements[i].forward;
      if (!forward) continue;
      const SqliteTransport& to = *in_same_file(forward->to);
      // As it came, valid or not: what another program wrote is carried, never destroyed.
      MessageInsert::run(connection.prepare(insert_into(to.table_.name)), to.table_.queue,
                         forward->message, to.exactly_now());
      changes.work = true;
      changes.queues.push_back(to.table_.queue);
    }
    remove_kept(connection, now());
    return true;
  });
  return statuses;
}

void SqliteTransport::release(std::span<const Hold> holds) {
  if (holds.empty()) return;
  database_->write([&](Connection& connection, Changes& changes) {
    for (const Hold& hold : holds) {
      const HoldKey key = detail::hold_key(hold);
      const std::string since = time_text(key.since);
      const std::string until = time_text(key.since + table_.redeliver_timeout.count());
      connection.prepare(sql_.release.c_str())
          .bind(1, key.id)
          .bind(2, table_.queue)
          .bind(3, since)
          .bind(4, until)
          .run();
    }
    changes.work = true;
    changes.queues.push_back(table_.queue);
    return true;
  });
}

std::optional<milliseconds> SqliteTransport::next_due() {
  const Timestamp exactly = database_->now();
  const Seconds at = detail::whole_seconds(exactly);
  const std::string now_text = time_text(at);
  const std::string before = redelivered_before(at);
  return database_->read([&](Connection& connection) -> std::optional<milliseconds> {
    Statement& row = connection.prepare(sql_.next_due.c_str());
    row.bind(1, table_.queue).bind(2, now_text).bind(3, before).step();
    std::optional<milliseconds> wait;
    if (!row.is_null(0)) {
      wait = std::chrono::ceil<milliseconds>(read_time(row.text(0)) - exactly);
    }
    row.reset();
    return wait;
  });
}

TransportStats SqliteTransport::stats() {
  const Timestamp exactly = database_->now();
  const Seconds at = detail::whole_seconds(exactly);
  const std::string now_text = time_text(at);
  const std::string before = redelivered_before(at);
  return database_->read([&](Connection& connection) {
    Statement& row = connection.prepare(sql_.stats.c_str());
    row.bind(1, table_.queue).bind(2, now_text).bind(3, before).step();
    TransportStats stats{
        .ready = row.integer(0), .delayed = row.integer(1), .in_flight = row.integer(2)};
    if (!row.is_null(3)) {
      stats.oldest_ready = std::chrono::floor<milliseconds>(exactly - read_time(row.text(3)));
    }
    row.reset();
    return stats;
  });
}

std::vector<StoredMessage> SqliteTransport::list(std::size_t limit, std::size_t offset) {
  return database_->read([&](Connection& connection) {
    std::vector<StoredMessage> messages;
    Statement& row = connection.prepare(sql_.list.c_str());
    row.bind(1, table_.queue)
        .bind(2, static_cast<std::int64_t>(limit))
        .bind(3, static_cast<std::int64_t>(offset));
    while (row.step()) messages.push_back(read_stored(row));
    return messages;
  });
}

std::optional<StoredMessage> SqliteTransport::find(const std::string& id) {
  return database_->read([&](Connection& connection) {
    std::optional<StoredMessage> message;
    Statement& row = connection.prepare(sql_.find.c_str());
    if (row.bind(1, table_.queue).bind(2, detail::row_id(id)).step()) message = read_stored(row);
    row.reset();
    return message;
  });
}

std::size_t SqliteTransport::remove(std::span<const std::string> ids) {
  if (ids.empty()) return 0;
  return database_->write([&](Connection& connection, Changes&) {
    std::size_t removed = 0;
    for (const std::string& id : ids) removed += remove(connection, id) ? 1 : 0;
    return removed;
  });
}

bool SqliteTransport::remove(Connection& connection, const std::string& id) {
  const std::string before = redelivered_before(now());
  connection.prepare(sql_.remove.c_str())
      .bind(1, table_.queue)
      .bind(2, detail::row_id(id))
      .bind(3, before)
      .run();
  return connection.changes() == 1;
}

MoveStatus SqliteTransport::move(const std::string& id, const MessageSettlement::Forward& forward) {
  const SqliteTransport* to = in_same_file(forward.to);
  if (to == nullptr) return detail::move_elsewhere(*this, id, forward, exactly_now());
  const bool moved = database_->write([&](Connection& connection, Changes& changes) {
    if (!remove(connection, id)) return false;
    MessageInsert::run(connection.prepare(insert_into(to->table_.name)), to->table_.queue,
                       forward.message, to->exactly_now());
    changes.work = true;
    changes.queues.push_back(to->table_.queue);
    return true;
  });
  return moved ? MoveStatus::moved : MoveStatus::left_alone;
}

std::size_t SqliteTransport::purge() {
  return database_->write([&](Connection& connection, Changes&) {
    connection.prepare(sql_.purge.c_str()).bind(1, table_.queue).run();
    return static_cast<std::size_t>(connection.changes());
  });
}

}  // namespace sqlite

std::unique_ptr<Transport> open_sqlite_transport(const Dsn& dsn, const TransportOptions& options) {
  return std::make_unique<sqlite::SqliteTransport>(dsn, options);
}

void send_in_transaction(sqlite3* connection, const Transport& to,
                         std::span<const Outgoing> messages) {
  const auto* transport = dynamic_cast<const sqlite::SqliteTransport*>(&to);
  if (transport == nullptr) {
    throw ConfigurationException{"transport " + to.name() + " is not on SQLite"};
  }
  if (sqlite3_get_autocommit(connection) != 0) {
    throw ConfigurationException{"no transaction is open on this connection"};
  }
  if (messages.empty()) return;
  for (const Outgoing& message : messages) detail::check_outgoing(message);
  sqlite::Statement insert{connection,
                           sqlite::MessageInsert::statement(transport->table().name).c_str()};
  for (const Outgoing& message : messages) {
    sqlite::MessageInsert::run(insert, transport->table().queue, message, transport->exactly_now());
  }
}

}  // namespace errand
