#include "engine/redis/doctor.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "errand/errors.hpp"

#include "core/findings.hpp"
#include "engine/redis/records.hpp"
#include "engine/redis/server_rules.hpp"

namespace errand::redis {
namespace {

using Severity = Finding::Severity;

std::int64_t number_of(const ServerInfo& info, std::string_view name) {
  const std::string text = info_text(info, name);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

void add_server_findings(std::vector<Finding>& findings, const ServerInfo& info) {
  const std::string version = info_text(info, "redis_version");
  if (is_supported_version(version)) {
    findings.push_back({Severity::ok, "server", "Redis " + version, {}});
  } else {
    findings.push_back({Severity::problem, "server", "Redis " + version,
                        std::string{"Errand needs "} + kOldestVersion + " or newer"});
  }
  if (info_text(info, "role") == "slave") {
    findings.push_back({Severity::problem, "writing", "this server is a read-only replica",
                        "connect to the primary"});
  }
}

void add_durability_finding(std::vector<Finding>& findings, Connection& connection) {
  LossOfWrites loss = loss_of_writes(connection);
  if (loss.ways.empty()) {
    findings.push_back({Severity::ok,
                        "persistence",
                        "every acknowledged write is on disk; a replica that takes over may lack "
                        "the last ones",
                        {}});
    return;
  }
  findings.push_back(
      {Severity::warning, "persistence", std::move(loss.ways),
       loss.remedy + ", or accept the loss; durable=1 in the DSN makes programs insist"});
}

void add_eviction_finding(std::vector<Finding>& findings, Connection& connection) {
  const std::string policy =
      server_setting(connection, "maxmemory-policy").value_or("not told to this user");
  if (policy == "noeviction") {
    findings.push_back({Severity::ok, "maxmemory-policy", policy, {}});
  } else if (policy.starts_with("allkeys")) {
    findings.push_back({Severity::problem, "maxmemory-policy",
                        policy + ": the server may throw away tasks that nobody has run",
                        "set maxmemory-policy noeviction"});
  } else {
    findings.push_back({Severity::warning, "maxmemory-policy",
                        policy + ": the server may throw away results before their time",
                        "set maxmemory-policy noeviction"});
  }
}

void add_memory_finding(std::vector<Finding>& findings, const ServerInfo& info) {
  const std::int64_t used = number_of(info, "used_memory");
  const std::int64_t most = number_of(info, "maxmemory");
  if (most == 0) {
    findings.push_back({Severity::ok,
                        "memory",
                        fmt::format("{:.1f} MiB in use, no limit (maxmemory 0)", mebibytes(used)),
                        {}});
    return;
  }
  std::string detail = fmt::format("{:.1f} of {:.1f} MiB in use", mebibytes(used), mebibytes(most));
  if (used * 10 < most * 8) {
    findings.push_back({Severity::ok, "memory", std::move(detail), {}});
  } else {
    findings.push_back({Severity::warning, "memory", std::move(detail),
                        "raise maxmemory, lower ttl in the DSN, or run `errand clean`"});
  }
}

/// What the keys of the newest tasks take; their entries in the queue's come to some 300 bytes
/// more.
void add_task_size_finding(std::vector<Finding>& findings, Database& database,
                           TaskCatalog& catalog) {
  constexpr std::int64_t kSample = 50;
  constexpr std::array<std::string_view, 10> kNames{
      "status",     "payload",      "result", "error",   "submitted_at",
      "started_at", "completed_at", "meta",   "message", "history"};
  const TaskPage page = catalog.list({}, {.page = 1, .page_size = kSample, .documents = false});
  if (page.items.empty()) return;
  std::vector<Command> questions;
  for (const TaskRecord& task : page.items) {
    for (const std::string_view name : kNames) {
      questions.push_back(
          Command{"MEMORY"}.add("USAGE").add(database.task_key(task.data.id.to_string(), name)));
    }
  }
  std::int64_t bytes = 0;
  for (const Reply& reply :
       database.read([&](Connection& connection) { return connection.run(questions); })) {
    bytes += reply.value().integer();
  }
  findings.push_back({Severity::ok,
                      "memory per task",
                      fmt::format("{} bytes, by the newest {}; {} tasks are stored",
                                  bytes / static_cast<std::int64_t>(page.items.size()),
                                  page.items.size(), page.total),
                      {}});
}

void add_clock_finding(std::vector<Finding>& findings, Database& database) {
  const auto asked_at = std::chrono::system_clock::now();
  findings.push_back(detail::clock_finding(
      database.now() - std::chrono::floor<std::chrono::microseconds>(asked_at)));
}

}  // namespace

std::vector<Finding> diagnose(Database& database, RedisSchema& schema, TaskCatalog& catalog,
                              WorkerRegistry& workers) {
  std::vector<Finding> findings;
  try {
    database.read([&](Connection& connection) {
      const ServerInfo info = server_info(connection);
      add_server_findings(findings, info);
      add_durability_finding(findings, connection);
      add_eviction_finding(findings, connection);
      add_memory_finding(findings, info);
      return true;
    });
    add_clock_finding(findings, database);
    const int installed = schema.installed_version();
    findings.push_back(detail::schema_finding(installed, schema.supported_version()));
    findings.push_back(
        {Severity::ok, "records", std::string{to_string(database.settings().record)}, {}});
    if (installed == schema.supported_version()) {
      add_task_size_finding(findings, database, catalog);
      for (Finding& finding : detail::queue_findings(catalog, workers.workers(), database.now())) {
        findings.push_back(std::move(finding));
      }
    }
  } catch (const Error& error) {
    findings.push_back({Severity::problem, "storage", error.what(), "mend this first"});
  }
  return findings;
}

}  // namespace errand::redis
