#include "engine/sqlite/doctor.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <system_error>

#include "errand/errors.hpp"

#include "core/findings.hpp"

namespace errand::sqlite {
namespace {

using Severity = Finding::Severity;
namespace fs = std::filesystem;

constexpr std::uintmax_t kMiB = std::uintmax_t{1024} * 1024;
constexpr std::uintmax_t kLargeWal = 256 * kMiB;
constexpr std::uintmax_t kLittleSpace = 512 * kMiB;
constexpr std::uintmax_t kQuickCheckLimit = 512 * kMiB;

// From statfs(2): file systems on which neither SQLite's locks nor its shared memory can be
// trusted between machines.
constexpr long kNfs = 0x6969;
constexpr long kSmb = 0x517B;
constexpr long kCifs = 0xFF534D42;
constexpr long kSmb2 = 0xFE534D42;

std::uintmax_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

Finding library() {
  if (sqlite3_libversion_number() >= 3'035'000) {
    return {Severity::ok, "library", fmt::format("SQLite {}", sqlite3_libversion()), {}};
  }
  return {Severity::problem, "library", fmt::format("SQLite {}", sqlite3_libversion()),
          "Errand needs SQLite 3.35 or newer, for RETURNING"};
}

Finding integrity(Database& database) {
  const std::uintmax_t size = size_of(database.settings().path);
  if (size > kQuickCheckLimit) {
    return {Severity::ok,
            "integrity",
            fmt::format("not checked: {} MiB take a while; run PRAGMA quick_check yourself",
                        size / kMiB),
            {}};
  }
  const std::string result = database.read([](Connection& connection) {
    Statement row = connection.prepare_once("PRAGMA quick_check(1)");
    row.step();
    return std::string{row.text(0)};
  });
  if (result == "ok") return {Severity::ok, "integrity", "quick_check is ok", {}};
  return {Severity::problem, "integrity", result,
          "stop all programs, copy the file, and restore a backup or use sqlite3's .recover"};
}

Finding writing(Database& database) {
  try {
    database.write([](Connection&, Changes&) { return true; });
    return {Severity::ok, "writing", "allowed for this user", {}};
  } catch (const StorageException& error) {
    return {Severity::problem, "writing", error.what(),
            "run as the file's owner, or change its owner or mode"};
  }
}

Finding durability(const Database& database) {
  if (database.settings().synchronous_full) {
    return {Severity::ok, "synchronous", "full: a finished submit survives a power cut", {}};
  }
  return {Severity::warning, "synchronous",
          "normal: a power cut may undo the last moments, though never damage the file",
          "drop ?synchronous=normal from the DSN if that matters"};
}

Finding journal(Database& database) {
  const std::string mode = database.read([](Connection& connection) {
    Statement row = connection.prepare_once("PRAGMA journal_mode");
    row.step();
    return std::string{row.text(0)};
  });
  if (mode != "wal") {
    return {Severity::problem, "journal", "mode " + mode,
            "WAL mode is needed: is the file on a network drive, or used by a program that changes "
            "it back?"};
  }
  const std::uintmax_t wal = size_of(database.settings().path + "-wal");
  std::string detail = fmt::format("WAL, {:.1f} MiB", static_cast<double>(wal) / kMiB);
  if (wal <= kLargeWal) return {Severity::ok, "journal", std::move(detail), {}};
  return {Severity::warning, "journal", std::move(detail),
          "some program keeps a read transaction open; find and close it, then the log shrinks"};
}

Finding file_system(const Database& database) {
  struct statfs info {};
  if (statfs(database.settings().path.c_str(), &info) != 0) {
    return {Severity::warning, "file system", "cannot be examined", "check the path's permissions"};
  }
  for (const long network : {kNfs, kSmb, kCifs, kSmb2}) {
    if (static_cast<long>(info.f_type) == network) {
      return {Severity::problem, "file system", "a network file system",
              "keep the file on a local disk; for several machines use a server engine"};
    }
  }
  const std::uintmax_t free_bytes =
      std::uintmax_t{info.f_bavail} * static_cast<std::uintmax_t>(info.f_bsize);
  std::string detail = fmt::format("local, {} MiB free", free_bytes / kMiB);
  if (free_bytes >= kLittleSpace) return {Severity::ok, "file system", std::move(detail), {}};
  return {Severity::warning, "file system", std::move(detail),
          "free some space: submits fail when the disk is full"};
}

Finding expired_tasks(Database& database) {
  const std::string before = to_sql_time(database.now() - database.ttl());
  const std::int64_t count = database.read([&](Connection& connection) {
    Statement& row = connection
                         .prepare(
                             "SELECT count(*) FROM async_tasks "
                             "WHERE completed_at IS NOT NULL AND completed_at < ?1")
                         .bind(1, before);
    row.step();
    const std::int64_t value = row.integer(0);
    row.reset();
    return value;
  });
  if (count < 10'000) {
    return {Severity::ok, "expired tasks", fmt::format("{} to delete", count), {}};
  }
  return {Severity::warning, "expired tasks", fmt::format("{} to delete", count),
          "run `errand clean` from cron, hourly"};
}

}  // namespace

std::vector<Finding> diagnose(Database& database, SqliteSchema& schema, TaskCatalog& catalog,
                              WorkerRegistry& workers) {
  std::vector<Finding> findings;
  findings.push_back(library());
  findings.push_back(file_system(database));
  try {
    findings.push_back(writing(database));
    findings.push_back(integrity(database));
    findings.push_back(journal(database));
    findings.push_back(durability(database));
    findings.push_back(
        detail::schema_finding(schema.installed_version(), schema.supported_version()));
    if (schema.installed_version() == schema.supported_version()) {
      findings.push_back(expired_tasks(database));
      for (Finding& finding : detail::queue_findings(catalog, workers.workers(), database.now())) {
        findings.push_back(std::move(finding));
      }
    }
  } catch (const Error& error) {
    findings.push_back({Severity::problem, "storage", error.what(), "mend this first"});
  }
  return findings;
}

}  // namespace errand::sqlite
