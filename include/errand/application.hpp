#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "errand/dsn.hpp"
#include "errand/engine.hpp"
#include "errand/export.hpp"
#include "errand/handler.hpp"
#include "errand/message.hpp"
#include "errand/rethrow.hpp"
#include "errand/tasks.hpp"
#include "errand/worker.hpp"

namespace errand {

/// A program's engine, handlers and tasks in one place.
///
///     errand::Application app{errand::Dsn{"sqlite:shop.db"}};
///     app.handle<SendEmail>("email.send", [](const SendEmail& m) { return deliver(m); });
///     errand::TaskFuture<Receipt> receipt = app.tasks().submit(SendEmail{"a@b.c", "hello"});
///
/// Register first; then tasks() and workers may be used from any thread.
class ERRAND_EXPORT Application {
 public:
  /// Opens the engine the DSN names; throws as open_engine().
  explicit Application(const Dsn& dsn, const EngineOptions& options = {});

  explicit Application(std::unique_ptr<Engine> engine);
  ~Application();

  /// This program sends Message under this name, and can run it. See Handlers::add().
  template <class Message, class F>
  Application& handle(const std::string& type, F handler) {
    messages_.add<Message>(type);
    handlers_.add<Message>(type, std::move(handler));
    return *this;
  }

  /// This program only sends Message; another one runs it.
  template <class Message>
  Application& message(std::string_view type) {
    messages_.add<Message>(type);
    return *this;
  }

  /// A task that failed with an E throws an E here, too. See ExceptionTypes::add().
  template <std::derived_from<std::exception> E>
  Application& rethrow() {
    exceptions_.add<E>();
    return *this;
  }
  template <std::derived_from<std::exception> E>
  Application& rethrow(std::string class_name) {
    exceptions_.add<E>(std::move(class_name));
    return *this;
  }

  Application& use(Middleware middleware) {
    handlers_.use(std::move(middleware));
    return *this;
  }

  [[nodiscard]] Tasks& tasks() noexcept { return tasks_; }
  [[nodiscard]] Engine& engine() noexcept { return *engine_; }
  [[nodiscard]] Handlers& handlers() noexcept { return handlers_; }

 private:
  std::unique_ptr<Engine> engine_;
  MessageTypes messages_;
  ExceptionTypes exceptions_;
  Handlers handlers_;
  Tasks tasks_;
};

/// A worker in a thread of this process, from construction to destruction. Destruction stops it
/// gracefully.
class ERRAND_EXPORT BackgroundWorker {
 public:
  explicit BackgroundWorker(Application& app, WorkerOptions options = {},
                            Logger& logger = silent_logger());

 private:
  Worker worker_;
  std::jthread thread_;
};

/// The main function of a worker program: `errand worker`'s options, signals and exit codes around
/// the handlers of `app`, and the built-in types errand.echo, errand.sleep and errand.fail.
[[nodiscard]] ERRAND_EXPORT int run_worker(Application& app, int argc, const char* const* argv);

/// The same for a program without tasks: it serves the messages that --transport names.
[[nodiscard]] ERRAND_EXPORT int run_worker(Handlers& handlers, int argc, const char* const* argv);

}  // namespace errand
