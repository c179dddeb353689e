#include "engine/postgres/doctor.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "errand/errors.hpp"

#include "core/findings.hpp"

namespace errand::postgres {
namespace {

using Severity = Finding::Severity;

constexpr int kOldestVersion = 130'000;

constexpr const char* kServer = R"(
SELECT current_setting('server_version_num')::int8, current_setting('server_version'),
       current_setting('synchronous_commit'), pg_is_in_recovery(),
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), current_setting('max_connections')::int8,
       clock_timestamp(), current_setting('server_encoding'),
       current_setting('default_transaction_isolation'),
       current_setting('default_transaction_read_only') = 'on')";

/// What this user may not do and workers and clients must, table by table.
constexpr const char* kMissingRights = R"(
SELECT string_agg(missing, '; ') FROM (
  SELECT string_agg(needed, ', ') || ' on ' || name AS missing
  FROM unnest(ARRAY['async_tasks', 'errand_bundles', 'errand_paused_queues', 'errand_turns',
                    'errand_workers']) AS name,
       unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed
  WHERE NOT has_table_privilege(name, needed)
  GROUP BY name
  UNION ALL
  SELECT 'SELECT on errand_tasks' WHERE NOT has_table_privilege('errand_tasks', 'SELECT')
  ORDER BY missing) AS of_tables)";

constexpr const char* kIndexes = R"(
SELECT wanted FROM unnest(ARRAY['idx_status', 'idx_completed', 'idx_completed_at', 'idx_claimable', 'idx_suspects',
                                'idx_leases']) AS wanted
WHERE NOT EXISTS (
  SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indrelid = to_regclass('async_tasks') AND c.relname = wanted AND i.indisvalid))";

constexpr const char* kVacuum = R"(
SELECT current_setting('autovacuum') = 'on'
         AND NOT coalesce('autovacuum_enabled=false' = ANY (c.reloptions), false),
       s.n_live_tup, s.n_dead_tup,
       coalesce(to_char(greatest(s.last_vacuum, s.last_autovacuum) AT TIME ZONE 'UTC',
                        'YYYY-MM-DD HH24:MI "UTC"'), 'never')
FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.oid = to_regclass('async_tasks'))";

/// The transaction that keeps dead rows from being cleaned away longest.
constexpr const char* kHorizon = R"(
SELECT pid::int8, extract(epoch FROM clock_timestamp() - xact_start)::int8, coalesce(state, '')
FROM pg_stat_activity
WHERE xact_start IS NOT NULL AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
  AND datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
ORDER BY xact_start LIMIT 1)";

/// Whether this user sees the transactions of others; what else keeps dead rows, oldest first.
constexpr const char* kOtherHorizons = R"(
SELECT pg_has_role('pg_read_all_stats', 'USAGE'),
       (SELECT string_agg('replication slot ' || slot_name, ', ') FROM pg_replication_slots
        WHERE NOT active AND (xmin IS NOT NULL OR catalog_xmin IS NOT NULL)),
       (SELECT string_agg('prepared transaction ' || gid, ', ') FROM pg_prepared_xacts
        WHERE database = current_database()))";

constexpr const char* kExpiredTasks = R"(
SELECT count(*) FROM async_tasks
WHERE completed_at IS NOT NULL AND completed_at < now() - $1::int8 * interval '1 ms')";

void add_server_findings(std::vector<Finding>& findings, Connection& connection) {
  const auto asked_at = std::chrono::system_clock::now();
  const Result row = connection.run(Query{kServer});
  const std::string version = "PostgreSQL " + std::string{row.text(0, 1)};
  if (row.integer(0, 0) >= kOldestVersion) {
    findings.push_back({Severity::ok, "server", version, {}});
  } else {
    findings.push_back({Severity::problem, "server", version, "Errand needs 13 or newer"});
  }
  if (row.text(0, 7) != "UTF8") {
    findings.push_back(
        {Severity::problem, "encoding",
         "this database has " + std::string{row.text(0, 7)} + ", which cannot hold every text",
         "use one with UTF8: createdb --encoding UTF8 --template template0"});
  }
  if (row.boolean(0, 3)) {
    findings.push_back({Severity::problem, "writing", "this server is a read-only standby",
                        "connect to the primary: target_session_attrs=read-write in the DSN"});
  } else if (row.boolean(0, 9)) {
    findings.push_back({Severity::problem, "writing", "default_transaction_read_only is on",
                        "turn it off for this user or database, or in the DSN's options"});
  }
  const std::string commit{row.text(0, 2)};
  if (commit == "off" || commit == "local") {
    findings.push_back({Severity::warning, "synchronous_commit",
                        commit + (commit == "off" ? ": a crash of the server may undo the last "
                                                    "moments, submits that returned included"
                                                  : ": a standby may lack the last moments"),
                        "set synchronous_commit = on for this user or database"});
  } else {
    findings.push_back({Severity::ok, "synchronous_commit", commit, {}});
  }
  // Only behind a pooler: elsewhere Errand sets what its sessions need.
  if (const std::string isolation{row.text(0, 8)}; isolation != "read committed") {
    findings.push_back({Severity::warning, "isolation",
                        isolation + " by default: workers that change tasks at a time are refused, "
                                    "and try again",
                        "set default_transaction_isolation = 'read committed' for this user"});
  }
  const std::int64_t used = row.integer(0, 4);
  const std::int64_t most = row.integer(0, 5);
  std::string connections = fmt::format("{} of {} in use", used, most);
  if (used * 10 < most * 8) {
    findings.push_back({Severity::ok, "connections", std::move(connections), {}});
  } else {
    findings.push_back({Severity::warning, "connections", std::move(connections),
                        "raise max_connections, lower connections=N in the DSN, or use a pooler"});
  }
  findings.push_back(detail::clock_finding(
      row.time(0, 6) - std::chrono::floor<std::chrono::microseconds>(asked_at)));
}

void add_rights_finding(std::vector<Finding>& findings, Connection& connection) {
  const Result missing = connection.run(Query{kMissingRights});
  if (missing.is_null(0, 0)) {
    findings.push_back({Severity::ok, "rights", "enough for workers and clients", {}});
  } else {
    findings.push_back({Severity::problem, "rights",
                        "this user has no " + std::string{missing.text(0, 0)},
                        "GRANT it, or ask as the user that your programs connect as"});
  }
}

void add_table_findings(std::vector<Finding>& findings, Connection& connection) {
  const Result missing = connection.run(Query{kIndexes});
  std::string names;
  for (int row = 0; row < missing.rows(); ++row) {
    names += (names.empty() ? "" : ", ") + std::string{missing.text(row, 0)};
  }
  if (names.empty()) {
    findings.push_back({Severity::ok, "indexes", "all there", {}});
  } else {
    findings.push_back({Severity::problem, "indexes", "missing or invalid: " + names,
                        "create them as `errand setup --dump-sql` shows"});
  }
  const Result vacuum = connection.run(Query{kVacuum});
  if (vacuum.rows() > 0) {
    const std::int64_t live = vacuum.is_null(0, 1) ? 0 : vacuum.integer(0, 1);
    const std::int64_t dead = vacuum.is_null(0, 2) ? 0 : vacuum.integer(0, 2);
    std::string detail = fmt::format("{} live and {} dead rows, last vacuum {}", live, dead,
                                     std::string{vacuum.text(0, 3)});
    if (!vacuum.boolean(0, 0)) {
      findings.push_back({Severity::problem, "autovacuum", "off; " + detail,
                          "turn it on: a queue's table grows without end otherwise"});
    } else if (dead > 100'000 && dead > 2 * live) {
      findings.push_back({Severity::warning, "autovacuum", std::move(detail),
                          "look for a long transaction, then run VACUUM async_tasks"});
    } else {
      findings.push_back({Severity::ok, "autovacuum", std::move(detail), {}});
    }
  }
  const Result others = connection.run(Query{kOtherHorizons});
  for (const int column : {1, 2}) {
    if (others.is_null(0, column)) continue;
    findings.push_back({Severity::warning, "transactions",
                        std::string{others.text(0, column)} +
                            ": dead rows cannot be cleaned away while it is there",
                        "drop or finish what is not in use"});
  }
  const Result horizon = connection.run(Query{kHorizon});
  constexpr std::int64_t kLong = 300;
  if (horizon.rows() > 0 && horizon.integer(0, 1) > kLong) {
    findings.push_back(
        {Severity::warning, "transactions",
         fmt::format("one is open for {} s (process {}, {}): dead rows cannot be cleaned away, and "
                     "the table grows",
                     horizon.integer(0, 1), horizon.integer(0, 0), std::string{horizon.text(0, 2)}),
         fmt::format("end it: SELECT pg_terminate_backend({})", horizon.integer(0, 0))});
  } else if (!others.boolean(0, 0)) {
    findings.push_back({Severity::warning, "transactions", "this user cannot see those of others",
                        "GRANT pg_read_all_stats to it, or run this as another one"});
  } else {
    findings.push_back({Severity::ok, "transactions", "none is open for long", {}});
  }
}

void add_expired_finding(std::vector<Finding>& findings, Database& database,
                         Connection& connection) {
  Query query{kExpiredTasks};
  query.parameters.add(std::int64_t{database.ttl().count()});
  const std::int64_t count = connection.run(std::move(query)).integer(0, 0);
  constexpr std::int64_t kMany = 10'000;
  std::string detail = fmt::format("{} to delete", count);
  if (count < kMany) {
    findings.push_back({Severity::ok, "expired tasks", std::move(detail), {}});
  } else {
    findings.push_back({Severity::warning, "expired tasks", std::move(detail),
                        "run `errand clean` from cron, hourly"});
  }
}

}  // namespace

std::vector<Finding> diagnose(Database& database, PostgresSchema& schema, TaskCatalog& catalog,
                              WorkerRegistry& workers) {
  std::vector<Finding> findings;
  try {
    database.read([&](Connection& connection) {
      add_server_findings(findings, connection);
      return true;
    });
    const int installed = schema.installed_version();
    findings.push_back(detail::schema_finding(installed, schema.supported_version()));
    if (installed == schema.supported_version()) {
      database.read([&](Connection& connection) {
        add_rights_finding(findings, connection);
        add_table_findings(findings, connection);
        add_expired_finding(findings, database, connection);
        return true;
      });
      for (Finding& finding : detail::queue_findings(catalog, workers.workers(), database.now())) {
        findings.push_back(std::move(finding));
      }
    }
  } catch (const Error& error) {
    findings.push_back({Severity::problem, "storage", error.what(), "mend this first"});
  }
  return findings;
}

}  // namespace errand::postgres
