#include "http/failure_transports.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/utf8.hpp"
#include "http/problem.hpp"

namespace errand::http {
namespace {

constexpr std::size_t kShown = 64;

TransportOptions existing_only() {
  TransportOptions options;
  options.open = TransportOptions::Open::existing;
  return options;
}

Problem no_such_transport(const std::string& detail) {
  return Problem{404, detail}.named("transport-not-found");
}

}  // namespace

FailureTransports::FailureTransports(detail::MessageConfiguration configuration)
    : transports_{std::move(configuration), existing_only()}, names_{transports_.failure_names()} {}

detail::FailureTransport FailureTransports::open(const std::optional<std::string>& name,
                                                 const std::optional<std::string>& to) {
  if (names_.empty()) {
    throw no_such_transport(
        "this server knows no failure transport: name one as failure_transport in the "
        "configuration it is started with, errand serve --config FILE");
  }
  const std::string list = fmt::format("{}", fmt::join(names_, ", "));
  if (!name && names_.size() > 1) {
    throw Problem{400, "there are several failure transports, say which: " + list}.of_parameter(
        "transport");
  }
  const std::string& chosen = name ? *name : names_.front();
  if (std::ranges::find(names_, chosen) == names_.end()) {
    throw no_such_transport(fmt::format("there is no failure transport '{}'; there are {}",
                                        detail::repair_and_cut_utf8(chosen, kShown), list));
  }
  if (to && !transports_.knows(*to)) {
    throw no_such_transport(fmt::format("the configuration names no transport '{}'",
                                        detail::repair_and_cut_utf8(*to, kShown)));
  }
  if (to == chosen) {
    throw Problem{409, "messages cannot be sent back to the failure transport they are in"}
        .of_parameter("to");
  }
  return {transports_, chosen, to.value_or("")};
}

}  // namespace errand::http
