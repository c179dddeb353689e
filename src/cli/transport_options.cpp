#include "cli/transport_options.hpp"

#include "cli/options.hpp"

namespace errand::cli {

detail::OpenTransports TransportChoice::open(TransportOptions::Open how) const {
  TransportOptions options;
  options.open = how;
  return detail::OpenTransports{detail::MessageConfiguration::from_environment(configuration),
                                options};
}

void add_configuration(CLI::App& command, std::string& file) {
  add_text(command, "--config", file, kFileName,
           "Names of transports; without it $ERRAND_CONFIG, else errand.json if there is one");
}

void add_transport_choice(CLI::App& command, TransportChoice& choice,
                          const std::string& description) {
  add_text(command, "--transport", choice.name, "NAME|DSN", description).not_empty();
  add_configuration(command, choice.configuration);
}

void add_failure_transport(CLI::App& command, TransportChoice& choice) {
  add_transport_choice(command, choice, "Messages of this failure transport instead of tasks");
  add_flag(command, "--holds-failures", choice.holds_failures,
           "The DSN of --transport is a failure transport, although nothing shows it");
}

}  // namespace errand::cli
