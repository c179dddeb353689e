#include "terminal/version.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>

#include "cli/commands.hpp"
#include "cli/engines.hpp"
#include "cli/options.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct VersionCommand {
  bool json = false;
};

ExitCode version(const VersionCommand& command, Invocation& invocation) {
  Console& console = invocation.console;
  if (command.json) {
    print_json(console, boost::json::serialize(boost::json::object{
                            {"version", terminal::kVersion},
                            {"engines", boost::json::array(kEngines.begin(), kEngines.end())}}));
  } else {
    fmt::print(console.out, "errand {}\nengines: {}\n", terminal::kVersion,
               fmt::join(kEngines, ", "));
  }
  return ExitCode::done;
}

}  // namespace

void add_version(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<VersionCommand>();
  CLI::App& command = add_command(parent, "version", "Print the version and the engines built in",
                                  kProgramCommands);
  add_json(command, options->json);
  add_examples(command, {"errand version", "errand version --json | jq -r .version"});
  runs(command, invocation, options, version);
}

}  // namespace errand::cli
