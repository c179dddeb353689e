#include <CLI/CLI.hpp>
#include <iostream>

#include "errand/application.hpp"
#include "errand/errors.hpp"

#include "app/worker_command.hpp"

namespace errand {
namespace {

// As listed by `errand --help`.
constexpr int kUsage = 2;
constexpr int kStorageUnreachable = 6;

}  // namespace

int run_worker(Application& app, int argc, const char* const* argv) {
  CLI::App command{"Runs tasks until stopped"};
  const auto worker = detail::add_worker_options(command);
  try {
    command.parse(argc, argv);
    return detail::run_worker_command(*worker, app);
  } catch (const CLI::ParseError& error) {
    const int code = command.exit(error);
    return code == 0 ? 0 : kUsage;
  } catch (const StorageException& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return kStorageUnreachable;
  } catch (const Error& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return kUsage;
  }
}

}  // namespace errand
