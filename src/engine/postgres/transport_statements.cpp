#include "engine/postgres/transport_statements.hpp"

#include <fmt/format.h>
#include <vector>

namespace errand::postgres {
namespace {

/// Can be received: 1 queue_name, 2 now, 3 before.
constexpr const char* kDue =
    "queue_name = $1 AND (delivered_at IS NULL OR delivered_at < $3::timestamp) "
    "AND available_at <= $2::timestamp";

/// `|| ''`: no index has that. A plan made while the table was empty would walk the queue's index
/// instead of looking up the ids.
constexpr const char* kHeld =
    "t.id = ANY ($2::int8[]) AND t.queue_name || '' = $1 "
    "AND t.delivered_at >= $3::timestamp AND t.delivered_at <= $4::timestamp";

constexpr const char* kStored = "id, body, headers, created_at, available_at, delivered_at";

}  // namespace

TransportStatements::TransportStatements(const std::string& table)
    // In the order of the index: rows of one second need not be sorted. Symfony's order says
    // nothing about those.
    : claim{fmt::format("WITH chosen AS MATERIALIZED (SELECT id FROM {0} WHERE {1} "
                        "ORDER BY available_at, delivered_at, id LIMIT $4::int8 "
                        "FOR UPDATE SKIP LOCKED) "
                        "UPDATE {0} SET delivered_at = $2::timestamp "
                        "WHERE id = ANY (ARRAY(SELECT id FROM chosen)) "
                        "RETURNING id, body, headers, available_at",
                        table, kDue)},
      keep_alive{fmt::format("UPDATE {} t SET delivered_at = $5::timestamp WHERE {} RETURNING t.id",
                             table, kHeld)},
      end{fmt::format("DELETE FROM {} t WHERE {} RETURNING t.id", table, kHeld)},
      keep{fmt::format("UPDATE {} t SET queue_name = $5, delivered_at = $6::timestamp "
                       "WHERE {} RETURNING t.id",
                       table, kHeld)},
      remove_kept{fmt::format("DELETE FROM {0} WHERE id = ANY (ARRAY(SELECT id FROM {0} "
                              "WHERE queue_name = $1 AND available_at < $2::timestamp "
                              "AND delivered_at < $2::timestamp LIMIT 1000 "
                              "FOR UPDATE SKIP LOCKED))",
                              table)},
      release{fmt::format("UPDATE {} t SET delivered_at = NULL WHERE {}", table, kHeld)},
      next_due{fmt::format(
          "SELECT available_at FROM {} WHERE queue_name = $1 AND available_at > $2::timestamp "
          "AND (delivered_at IS NULL OR delivered_at < $3::timestamp) "
          "ORDER BY available_at LIMIT 1",
          table)},
      stats{fmt::format(
          "SELECT count(*) FILTER (WHERE available_at <= $2::timestamp AND NOT held), "
          "count(*) FILTER (WHERE available_at > $2::timestamp AND NOT held), "
          "count(*) FILTER (WHERE held), "
          "min(available_at) FILTER (WHERE available_at <= $2::timestamp AND NOT held) FROM "
          "(SELECT available_at, coalesce(delivered_at >= $3::timestamp, false) AS held "
          "FROM {} WHERE queue_name = $1) m",
          table)},
      list{fmt::format("SELECT {} FROM {} WHERE queue_name = $1 ORDER BY id LIMIT $2::int8 "
                       "OFFSET $3::int8",
                       kStored, table)},
      find{
          fmt::format("SELECT {} FROM {} WHERE queue_name = $1 AND id = $2::int8", kStored, table)},
      remove{fmt::format("DELETE FROM {} WHERE queue_name || '' = $1 AND id = ANY ($2::int8[]) "
                         "AND (delivered_at IS NULL OR delivered_at < $3::timestamp)",
                         table)},
      purge{fmt::format("DELETE FROM {} WHERE queue_name = $1", table)} {}

std::string insert_statement(const std::string& table) {
  return fmt::format(
      "INSERT INTO {} (body, headers, queue_name, created_at, available_at) "
      "SELECT n.body, n.headers, $4, $5::timestamp, "
      "timestamp 'epoch' + n.available_at * interval '1 s' "
      "FROM unnest($1::text[], $2::text[], $3::int8[]) WITH ORDINALITY "
      "AS n (body, headers, available_at, place) ORDER BY n.place",
      table);
}

std::string forward_statement(const std::string& table, const std::string& to) {
  return fmt::format(
      "WITH ended AS (DELETE FROM {} t WHERE {} RETURNING t.id), "
      "written AS (INSERT INTO {} (body, headers, queue_name, created_at, available_at) "
      "SELECT n.body, n.headers, $8, $9::timestamp, "
      "timestamp 'epoch' + n.available_at * interval '1 s' "
      "FROM unnest($2::int8[], $5::text[], $6::text[], $7::int8[]) WITH ORDINALITY "
      "AS n (id, body, headers, available_at, place) "
      "WHERE n.id IN (SELECT id FROM ended) ORDER BY n.place) "
      "SELECT id FROM ended",
      table, kHeld, to);
}

std::string move_statement(const std::string& table, const std::string& to) {
  return fmt::format(
      "WITH taken AS (DELETE FROM {} WHERE queue_name = $1 AND id = $2::int8 "
      "AND (delivered_at IS NULL OR delivered_at < $3::timestamp) RETURNING id) "
      "INSERT INTO {} (body, headers, queue_name, created_at, available_at) "
      "SELECT n.body, n.headers, $7, $8::timestamp, "
      "timestamp 'epoch' + n.available_at * interval '1 s' "
      "FROM unnest($4::text[], $5::text[], $6::int8[]) AS n (body, headers, available_at), taken",
      table, to);
}

void add_messages(Parameters& parameters, std::span<const Outgoing* const> messages,
                  const std::string& queue, Timestamp now) {
  std::vector<std::string_view> bodies;
  std::vector<std::string> headers;
  std::vector<std::int64_t> due;
  for (const Outgoing* message : messages) {
    bodies.push_back(message->message.body);
    headers.push_back(detail::wire_headers_json(message->message.headers));
    due.push_back(detail::due_time(now, message->delay).time_since_epoch().count());
  }
  parameters.add(std::span<const std::string_view>{bodies})
      .add(std::span<const std::string>{headers})
      .add(std::span<const std::int64_t>{due})
      .add(queue)
      .add(Timestamp{detail::whole_seconds(now)});
}

std::string setup_script(const detail::MessengerTable& table) {
  const std::size_t dot = table.name.find('.');
  const std::string schema = dot == std::string::npos ? "" : table.name.substr(0, dot + 1);
  const std::string bare = dot == std::string::npos ? table.name : table.name.substr(dot + 1);
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {0} (id BIGINT GENERATED BY DEFAULT AS IDENTITY NOT NULL, "
      "body TEXT NOT NULL, headers TEXT NOT NULL, queue_name VARCHAR(190) NOT NULL, "
      "created_at TIMESTAMP(0) WITHOUT TIME ZONE NOT NULL, "
      "available_at TIMESTAMP(0) WITHOUT TIME ZONE NOT NULL, "
      "delivered_at TIMESTAMP(0) WITHOUT TIME ZONE DEFAULT NULL, PRIMARY KEY (id));\n"
      "CREATE INDEX IF NOT EXISTS {1} ON {0} (queue_name, available_at, delivered_at, id);\n"
      "CREATE OR REPLACE FUNCTION {2}notify_{3}() RETURNS TRIGGER AS $$\n"
      "    BEGIN\n"
      "        PERFORM pg_notify('{0}', NEW.queue_name::text);\n"
      "        RETURN NEW;\n"
      "    END;\n"
      "$$ LANGUAGE plpgsql;\n"
      "DROP TRIGGER IF EXISTS notify_trigger ON {0};\n"
      "CREATE TRIGGER notify_trigger AFTER INSERT OR UPDATE ON {0} "
      "FOR EACH ROW EXECUTE PROCEDURE {2}notify_{3}();\n",
      table.name, table.index_name(), schema, bare);
}

}  // namespace errand::postgres
