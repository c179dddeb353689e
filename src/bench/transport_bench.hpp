#pragma once

#include "errand/transport.hpp"

#include "bench/engine_bench.hpp"

namespace errand::bench {

/// Measures messages without a record on a transport that must be empty, and leaves it so.
///
/// - `send_seq`: one caller, one message at a time; `send_bulk`: 1,000 at a time.
/// - `messages_drain`: no-op messages a second from a backlog, one consumer in this process.
///
/// Rates are medians of the rounds. Throws ConfigurationException if there are messages.
[[nodiscard]] std::vector<Figure> measure(Transport& transport, const Plan& plan,
                                          const std::function<void(const std::string&)>& progress);

}  // namespace errand::bench
