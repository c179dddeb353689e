#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <fmt/ostream.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "errand/bus.hpp"
#include "errand/errors.hpp"

#include "bus/routes.hpp"
#include "cli/commands.hpp"
#include "cli/message_input.hpp"
#include "cli/options.hpp"
#include "cli/transport_options.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct SendCommand {
  std::string type;
  std::optional<std::string> body;
  TransportChoice transport;
  std::chrono::milliseconds delay{0};
  std::vector<std::string> headers;
  bool json = false;
};

/// The name or DSN of the transport. Throws ConfigurationException if nothing says which.
std::string chosen_transport(const SendCommand& command,
                             const detail::MessageConfiguration& configuration) {
  if (command.transport.is_given()) return command.transport.name;
  const std::vector<std::string> names = configuration.serializer().names_of(command.type);
  if (const std::string* routed = detail::find_route(configuration.routing, names)) return *routed;
  if (configuration.file.empty()) {
    throw ConfigurationException{
        "where to? There is no --transport, and no configuration: neither --config nor "
        "$ERRAND_CONFIG nor errand.json in the working directory. Try --transport "
        "'sqlite:app.db?queue_name=async', or write an errand.json as docs/configuration.md shows"};
  }
  throw ConfigurationException{fmt::format(
      "there is no route for type {}: name the transport with --transport, or give the type, or *, "
      "one in the routing of {}",
      command.type, configuration.file)};
}

ExitCode send(const SendCommand& command, Invocation& invocation) {
  Console& console = invocation.console;
  const SendOptions options{.delay = command.delay, .headers = parse_headers(command.headers)};
  std::string body = read_payload(command.body, console);
  detail::OpenTransports transports = command.transport.open(TransportOptions::Open::create);
  const detail::MessageConfiguration& configuration = transports.configuration();
  // Only this one is opened: what happens to the others is no concern of this message.
  Transport& transport = transports.get(chosen_transport(command, configuration));
  const MessageTypes no_types;
  Bus bus{no_types, configuration.class_names};
  bus.route("*", transport);
  const std::string id = bus.send_json(command.type, std::move(body), options);
  const std::string& name = transport.name();
  if (command.json) {
    print_json(console, boost::json::serialize(boost::json::object{
                            {"messageId", id}, {"type", command.type}, {"transport", name}}));
  } else {
    fmt::print(console.out, "Sent {} to {} as {}\n", terminal::printable(command.type),
               terminal::printable(name), id);
  }
  return ExitCode::done;
}

}  // namespace

void add_send(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<SendCommand>();
  CLI::App& command =
      add_command(parent, "send", "Send a message, for which nobody waits", kTaskCommands);
  add_argument(command, "TYPE", options->type,
               R"(What is to be done, by the name its handlers know: App\Message\SendEmail)")
      .required();
  add_argument(command, "BODY", options->body,
               "JSON, @FILE, or - for standard input; {} if left out");
  add_transport_choice(command, options->transport,
                       "Where to; without it, as the configuration routes the type");
  add_duration(command, "--delay", options->delay,
               "Deliver it not before this time has passed; tables round up to whole seconds");
  add_texts(command, "--header", options->headers, "NAME=VALUE",
            "Travels with the message; may be repeated");
  add_json(command, options->json);
  add_examples(command, {
                            R"(errand send email.send '{"to":"a@b.c"}' --transport async)",
                            R"(errand send 'App\Message\SendEmail' @mail.json --delay 5m \)",
                            "    --transport 'postgresql://app@db/shop?queue_name=async'",
                        });
  runs(command, invocation, options, send);
}

}  // namespace errand::cli
