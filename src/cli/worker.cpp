#include <memory>
#include <optional>
#include <string>

#include "errand/engine.hpp"
#include "errand/handler.hpp"

#include "app/worker_command.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/token_environment.hpp"
#include "http/metrics_listener.hpp"
#include "http/observed_engine.hpp"

namespace errand::cli {
namespace {

/// The metrics of --metrics, and who serves them.
class WorkerMetrics {
 public:
  explicit WorkerMetrics(const std::string& address) {
    add_tokens_of_environment(access_);
    listener_.emplace(http::ListenAddress::parse(address), access_, metrics_);
  }

  /// What is done with the engine, which may be null, and in the handlers is counted from now on.
  std::unique_ptr<Engine> watch(std::unique_ptr<Engine> engine, Handlers& handlers) {
    if (!engine) {
      handlers.use(http::measuring_middleware(metrics_));
      return nullptr;
    }
    auto observed = std::make_unique<http::ObservedEngine>(std::move(engine), metrics_);
    handlers.use(observed->middleware());
    return observed;
  }

  [[nodiscard]] std::string url() const { return listener_->url(); }

 private:
  http::Access access_;
  http::Metrics metrics_;
  std::optional<http::MetricsListener> listener_;
};

}  // namespace

void add_worker(CLI::App& parent, Invocation& invocation) {
  CLI::App& command =
      add_command(parent, "worker", "Run tasks and messages until stopped", kWorkerCommands);
  const std::shared_ptr<detail::WorkerCommand> worker = detail::add_worker_options(command);
  const auto metrics_address = std::make_shared<std::string>();
  add_text(command, "--metrics", *metrics_address, "ADDRESS:PORT",
           "Serve what this worker does to Prometheus, as /metrics there; beyond 127.0.0.1 only "
           "with a token in $ERRAND_READ_TOKEN");
  add_dsn(command, invocation);
  runs(command, invocation.command, [&invocation, worker, metrics_address] {
    std::optional<WorkerMetrics> metrics;
    if (!metrics_address->empty()) {
      metrics.emplace(*metrics_address);
      detail::make_logger(*worker)->info("metrics are at " + metrics->url());
    }
    Handlers handlers;
    std::unique_ptr<Engine> engine =
        detail::serves_tasks(*worker) ? invocation.open(EngineOptions::Open::create) : nullptr;
    if (metrics) engine = metrics->watch(std::move(engine), handlers);
    return static_cast<ExitCode>(detail::run_worker_command(*worker, handlers, engine.get()));
  });
}

}  // namespace errand::cli
