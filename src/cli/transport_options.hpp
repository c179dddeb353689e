#pragma once

#include <string>

#include "errand/transport.hpp"

#include "app/message_configuration.hpp"
#include "terminal/cli11_fwd.hpp"

namespace errand::cli {

/// A transport, by its name in the configuration or by DSN.
struct TransportChoice {
  std::string name;             ///< empty: none was chosen
  std::string configuration;    ///< the file; empty: as the environment says
  bool holds_failures = false;  ///< it is a failure transport, says whoever typed it

  [[nodiscard]] bool is_given() const noexcept { return !name.empty(); }
  [[nodiscard]] detail::OpenTransports open(TransportOptions::Open how) const;
};

/// --config
void add_configuration(CLI::App& command, std::string& file);

/// --transport and --config of the commands below `failed`.
void add_failure_transport(CLI::App& command, TransportChoice& choice);

/// --transport and --config.
void add_transport_choice(CLI::App& command, TransportChoice& choice,
                          const std::string& description);

}  // namespace errand::cli
