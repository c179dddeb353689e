#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "errand/clock.hpp"
#include "errand/dsn.hpp"
#include "errand/export.hpp"
#include "errand/logger.hpp"
#include "errand/signals.hpp"
#include "errand/task_catalog.hpp"
#include "errand/task_queue.hpp"
#include "errand/task_storage.hpp"
#include "errand/worker_registry.hpp"

namespace errand {

/// One thing `errand doctor` has to say.
struct Finding {
  enum class Severity : std::uint8_t { ok, warning, problem };
  Severity severity = Severity::ok;
  std::string subject{};  ///< what was looked at: "synchronous"
  std::string detail{};   ///< what was found
  std::string fix{};      ///< the next step; empty if ok
};

/// The tables an engine needs.
class ERRAND_EXPORT Schema {
 public:
  virtual ~Schema() = default;

  /// 0: not there yet.
  [[nodiscard]] virtual int installed_version() = 0;
  [[nodiscard]] virtual int supported_version() const = 0;

  /// Brings the storage to supported_version(). Each step happens whole, or can be repeated after
  /// it broke off half-way; safe to call from several processes at once. Throws StorageException if
  /// the storage is newer.
  virtual void migrate() = 0;

  /// All steps as a script for a person to review and run; empty for engines without a schema.
  [[nodiscard]] virtual std::string script() const = 0;
};

/// One backend. The references live as long as the engine; the engine may be used by any number of
/// threads. Destroying it waits for its own threads; no call may be under way then.
class ERRAND_EXPORT Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual EngineKind kind() const noexcept = 0;

  /// By the clock that rules in this storage. Throws StorageException if that must be asked for.
  [[nodiscard]] virtual Timestamp now() = 0;

  /// How long a finished task can be loaded.
  [[nodiscard]] virtual std::chrono::milliseconds ttl() const noexcept = 0;

  [[nodiscard]] virtual TaskStorage& storage() noexcept = 0;
  [[nodiscard]] virtual TaskQueue& queue() noexcept = 0;
  [[nodiscard]] virtual TaskCatalog& catalog() noexcept = 0;
  [[nodiscard]] virtual WorkerRegistry& workers() noexcept = 0;
  [[nodiscard]] virtual Signals& signals() noexcept = 0;
  [[nodiscard]] virtual Schema& schema() noexcept = 0;

  /// Looks for what makes a queue slow, unsafe or silent. Never throws for what it finds.
  [[nodiscard]] virtual std::vector<Finding> diagnose() = 0;
};

struct EngineOptions {
  /// Must outlive the engine. Engines that share a server use the server's clock instead.
  const Clock* clock = &system_clock();

  /// Told what the engine does on its own: connections lost and found again. Must outlive it.
  Logger* logger = &silent_logger();

  enum class Open : std::uint8_t {
    create,      ///< make file and tables where there are none
    existing,    ///< StorageException where there is nothing: for programs that only look
    any_schema,  ///< as create, but neither make nor check the tables: for setup
    inspect,     ///< as existing, but do not check the tables: for doctor
  };
  Open open = Open::create;
};

/// How long a finished task can be loaded, unless the DSN says `ttl=SECONDS`.
inline constexpr std::chrono::hours kDefaultTtl{24};

/// Opens the engine that the DSN names. Throws ConfigurationException for options it does not
/// know, StorageException if it cannot be reached or its schema is older or newer than this
/// program's; both say what to do next. Part of errand::errand, which links every engine built.
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Engine> open_engine(const Dsn& dsn,
                                                                const EngineOptions& options = {});

/// Schema::script() without opening anything.
[[nodiscard]] ERRAND_EXPORT std::string schema_script(const Dsn& dsn);

}  // namespace errand
