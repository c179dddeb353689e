#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <string_view>
#include <unistd.h>

#include "errand/application.hpp"
#include "errand/errors.hpp"

#include "app/worker_command.hpp"
#include "terminal/display.hpp"
#include "terminal/help.hpp"
#include "terminal/usage_error.hpp"

namespace errand {
namespace {

// As listed by `errand --help`.
constexpr int kUsage = 2;
constexpr int kStorageUnreachable = 6;

std::string program_name(int argc, const char* const* argv) {
  const std::string name = argc > 0 ? std::filesystem::path{argv[0]}.filename().string() : "";
  return name.empty() ? "worker" : name;
}

int run(Handlers& handlers, Engine* engine, int argc, const char* const* argv) {
  const std::string name = program_name(argc, argv);
  const auto refuse = [&](std::string_view reason, int code) {
    std::cerr << fmt::format("{}: {}\n", name, terminal::printable(reason));
    return code;
  };
  CLI::App command{"Run tasks until stopped", name};
  terminal::lay_out_help(command, terminal::Screen::of(STDOUT_FILENO));
  const auto worker = detail::add_worker_options(command);
  try {
    command.parse(argc, argv);
    return detail::run_worker_command(*worker, handlers, engine);
  } catch (const CLI::CallForHelp&) {
    std::cout << command.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    return refuse(terminal::explain_usage_error(command, error), kUsage);
  } catch (const StorageException& error) {
    return refuse(error.what(), kStorageUnreachable);
  } catch (const Error& error) {
    return refuse(error.what(), kUsage);
  }
}

}  // namespace

int run_worker(Application& app, int argc, const char* const* argv) {
  return run(app.handlers(), &app.engine(), argc, argv);
}

int run_worker(Handlers& handlers, int argc, const char* const* argv) {
  return run(handlers, nullptr, argc, argv);
}

}  // namespace errand
