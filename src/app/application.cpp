#include "errand/application.hpp"

#include <utility>

namespace errand {

Application::Application(const Dsn& dsn, const EngineOptions& options)
    : Application{open_engine(dsn, options)} {}

Application::Application(std::unique_ptr<Engine> engine)
    : engine_{std::move(engine)}, tasks_{*engine_, messages_, exceptions_} {}

Application::~Application() = default;

BackgroundWorker::BackgroundWorker(Application& app, WorkerOptions options, Logger& logger)
    : worker_{app.engine(), app.handlers(), std::move(options), logger},
      thread_{[this](const std::stop_token& stop) { worker_.run(stop); }} {}

}  // namespace errand
