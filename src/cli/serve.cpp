#include <algorithm>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "errand/application.hpp"
#include "errand/errors.hpp"

#include "app/builtin_handlers.hpp"
#include "app/exec_handler.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/token_environment.hpp"
#include "cli/transport_options.hpp"
#include "core/block_signals.hpp"
#include "http/observed_engine.hpp"
#include "http/server.hpp"
#include "terminal/console_logger.hpp"
#include "terminal/stop_signals.hpp"

namespace errand::cli {
namespace {

struct ServeCommand {
  std::string listen = "127.0.0.1:8080";
  std::string token_file;
  std::string tls_certificate;
  std::string tls_key;
  std::int64_t max_body_mib = 8;
  std::int64_t max_connections = 12'000;
  std::string log_level = "info";
  std::string log_format = "text";
  std::string configuration;

  bool worker = false;
  std::vector<std::string> queues;
  std::int64_t concurrency = 0;
  std::vector<std::string> exec;
  std::chrono::milliseconds exec_timeout{0};
  std::chrono::milliseconds lease{15'000};
  std::chrono::milliseconds grace{30'000};
};

http::Access access_of(const ServeCommand& command) {
  http::Access access;
  if (!command.token_file.empty()) access.add_token_file(command.token_file);
  add_tokens_of_environment(access);
  return access;
}

http::ServerOptions server_options(const ServeCommand& command) {
  if (command.tls_certificate.empty() != command.tls_key.empty()) {
    throw ConfigurationException{"--tls-cert and --tls-key belong together: give both, or none"};
  }
  http::ServerOptions options;
  options.listen = http::ListenAddress::parse(command.listen);
  if (!command.tls_certificate.empty()) {
    options.tls = http::TlsFiles{command.tls_certificate, command.tls_key};
  }
  options.limits.body_bytes = static_cast<std::size_t>(command.max_body_mib) << 20;
  options.limits.connections = static_cast<std::size_t>(command.max_connections);
  options.messages = detail::MessageConfiguration::from_environment(command.configuration);
  return options;
}

void require_worker_for_its_options(const ServeCommand& command) {
  if (command.worker ||
      (command.queues.empty() && command.exec.empty() && command.concurrency == 0)) {
    return;
  }
  throw ConfigurationException{
      "--queue, --concurrency and --exec are a worker's options: add --worker"};
}

/// A connection is a file descriptor, and the usual limit is 1,024.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// The worker of `--worker`, in a thread of its own. If it cannot go on, neither does the server.
class OwnWorker {
 public:
  /// It ends with the server: both stop at once, so that nothing is begun that would have to wait
  /// for the server's last answers.
  OwnWorker(const ServeCommand& command, Application& app, Logger& logger,
            std::stop_source& server_stop)
      : worker_{app.engine(), app.handlers(), options_of(command), logger},
        thread_{detail::start_without_signals([this, &server_stop](const std::stop_token& stop) {
          try {
            report_ = worker_.run(stop);
          } catch (...) {
            error_ = std::current_exception();
          }
          server_stop.request_stop();
        })},
        on_server_stop_{server_stop.get_token(), [this] { thread_.request_stop(); }} {}

  [[nodiscard]] const std::string& name() const { return worker_.name(); }

  /// Blocks until what it runs has ended or was handed back. Throws what ended it.
  WorkerReport stop() {
    thread_.request_stop();
    thread_.join();
    if (error_) std::rethrow_exception(error_);
    return report_;
  }

  [[nodiscard]] static WorkerOptions options_of(const ServeCommand& command) {
    WorkerOptions options;
    if (!command.queues.empty()) options.queues = command.queues;
    options.concurrency = static_cast<int>(command.concurrency);
    options.lease = command.lease;
    options.grace = command.grace;
    return options;
  }

 private:
  Worker worker_;
  WorkerReport report_;
  std::exception_ptr error_;
  std::jthread thread_;
  std::stop_callback<std::function<void()>> on_server_stop_;
};

void announce(const http::Server& server, const http::ServerOptions& options,
              const http::Access& access, Logger& logger) {
  if (!options.listen.is_loopback() && !options.tls) {
    logger.warning(
        "tokens and tasks travel unencrypted: give --tls-cert and --tls-key, or put a "
        "proxy with TLS in front");
  }
  logger.info(fmt::format(
      "serves {}; {}; stop it with Ctrl-C", server.url(),
      access.has_tokens() ? "clients need a token" : "everybody on this machine may use it"));
}

ExitCode serve(const ServeCommand& command, Invocation& invocation) {
  require_worker_for_its_options(command);
  terminal::ConsoleLogger logger{terminal::parse_log_level(command.log_level),
                                 terminal::parse_log_format(command.log_format)};
  const http::Access access = access_of(command);
  http::ServerOptions options = server_options(command);
  raise_file_limit();
  signal(SIGPIPE, SIG_IGN);  // clients go as they please

  http::Metrics metrics;
  EngineOptions engine_options;
  engine_options.logger = &logger;
  auto observed = std::make_unique<http::ObservedEngine>(
      open_engine(invocation.dsn(), engine_options), metrics);
  Middleware counting = observed->middleware();
  Application app{std::move(observed)};
  if (command.worker) {
    for (const std::string& text : command.exec) {
      detail::add_exec_handler(app.handlers(), text, command.exec_timeout);
    }
    detail::add_builtin_handlers(app.handlers());
    app.use(std::move(counting));
    options.worker_types = app.handlers().types();
  }

  http::Server server{app, access, metrics, options, logger};
  const terminal::StopSignals signals;
  std::stop_source stop;
  const std::stop_callback on_signal{signals.token(), [&stop] { stop.request_stop(); }};
  std::optional<OwnWorker> worker;
  if (command.worker) worker.emplace(command, app, logger, stop);
  announce(server, options, access, logger);
  if (worker) {
    logger.info(fmt::format("worker {} serves {}", worker->name(),
                            fmt::join(OwnWorker::options_of(command).queues, ", ")));
  }
  server.run(stop.get_token());
  if (worker) {
    const WorkerReport report = worker->stop();
    if (report.abandoned > 0) _exit(0);  // their tasks are handed back
  }
  logger.info("stopped");
  return ExitCode::done;
}

}  // namespace

void add_serve(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<ServeCommand>();
  CLI::App& command =
      add_command(parent, "serve",
                  "Serve the HTTP API, the dashboard and metrics; with --worker, run tasks, too",
                  kOperatorCommands);
  add_text(command, "--listen", options->listen, "ADDRESS:PORT",
           "Where; beyond 127.0.0.1 only with a token (default: 127.0.0.1:8080)");
  add_text(command, "--token-file", options->token_file, kFileName,
           "Tokens that clients need, a line each: operator TOKEN, or reader TOKEN. Also from "
           "$ERRAND_TOKEN (operator) and $ERRAND_READ_TOKEN (reader)");
  add_text(command, "--tls-cert", options->tls_certificate, kFileName,
           "Certificate with its chain, PEM: serve HTTPS");
  add_text(command, "--tls-key", options->tls_key, kFileName, "Its key, PEM");
  add_number(command, "--max-body", options->max_body_mib, 1, 64,
             "MiB that a request may have (default: 8)");
  add_number(command, "--max-connections", options->max_connections, 1, 1'000'000,
             "Connections at once (default: 12000)");
  add_configuration(command, options->configuration);
  add_flag(command, "--worker", options->worker, "Run tasks in this process, too");
  add_texts(command, "-q,--queue", options->queues, "QUEUE",
            "Queues the worker serves, separated by commas, the most important first (default: "
            "default)")
      .comma_separated();
  add_number(command, "-c,--concurrency", options->concurrency, 0, 1024,
             "Tasks the worker runs at once (default: one per processor)");
  add_texts(command, "--exec", options->exec, "TYPE=COMMAND",
            "A handler of the worker, as of errand worker");
  add_duration(command, "--exec-timeout", options->exec_timeout,
               "Kill a command that takes longer (default: never)");
  add_duration(command, "--lease", options->lease,
               "How soon the loss of the worker is noticed (default: 15s)");
  add_duration(command, "--grace", options->grace,
               "How long running tasks may go on after a stop (default: 30s)");
  add_text(command, "--log-level", options->log_level, "LEVEL", "How much to tell (default: info)")
      .one_of({"debug", "info", "warning", "error"});
  add_text(command, "--log-format", options->log_format, "FORMAT",
           "text, or json: an object a line (default: text)")
      .one_of({"text", "json"});
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand serve --worker",
                            "errand serve --listen 0.0.0.0:8443 --token-file tokens --tls-cert "
                            "chain.pem --tls-key key.pem",
                            "ERRAND_TOKEN=$(cat token) errand serve --listen 0.0.0.0:8080",
                        });
  runs(command, invocation, options, serve);
}

}  // namespace errand::cli
