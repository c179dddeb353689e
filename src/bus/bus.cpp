#include "errand/bus.hpp"

#include <utility>

#include "errand/errors.hpp"
#include "errand/middleware.hpp"
#include "errand/task_id.hpp"

#include "bus/routes.hpp"
#include "bus/symfony_serializer.hpp"
#include "bus/symfony_stamps.hpp"
#include "core/document_rules.hpp"

namespace errand {

class Bus::Impl {
 public:
  explicit Impl(const ClassNames& class_names) {
    for (const auto& [type, class_name] : class_names) serializer.add(type, class_name);
  }

  detail::SymfonySerializer serializer;
  detail::Routes<Transport*> routes;
  std::vector<const Rules*> rules;
};

Bus::Bus(const MessageTypes& types, const ClassNames& class_names)
    : types_{types}, impl_{std::make_unique<Impl>(class_names)} {}

Bus::~Bus() = default;

Bus& Bus::route(const std::string& type, Transport& transport) {
  if (type.empty()) throw ConfigurationException{"a route needs a type, or `*` for all"};
  const auto [entry, added] = impl_->routes.try_emplace(type, &transport);
  if (!added) {
    throw ConfigurationException{"type " + type + " has a route to " + entry->second->name() +
                                 " already"};
  }
  return *this;
}

Bus& Bus::check_by(const Rules& rules) {
  impl_->rules.push_back(&rules);
  return *this;
}

Transport& Bus::transport_for(std::string_view type) const {
  const std::vector<std::string> names = impl_->serializer.names_of(std::string{type});
  if (Transport* const* transport = detail::find_route(impl_->routes, names)) return **transport;
  throw ConfigurationException{"there is no route for type " + std::string{type} +
                               ": add one with route(\"" + std::string{type} +
                               "\", transport), or route(\"*\", transport) for all"};
}

Outgoing Bus::prepare_json(const std::string& type, std::string body,
                           const SendOptions& options) const {
  detail::check_label("type", type);
  // PHP deletes what it cannot read, and its worker ends.
  if (const auto bad = detail::find_bad_stamp(options.headers)) {
    throw ValidationException{"header " + *bad +
                              ": expected a JSON array of objects, one for each stamp"};
  }
  for (const char* own : {"type", "Content-Type"}) {
    if (!options.headers.contains(std::string_view{own})) continue;
    throw ValidationException{"header " + std::string{own} +
                              ": every message has one of its own; the type is what the message "
                              "is sent as, and the body is JSON"};
  }
  const Envelope envelope{type, std::move(body), options.headers};
  for (const Rules* rules : impl_->rules) rules->check(envelope);
  Outgoing outgoing{.message = impl_->serializer.write(envelope), .delay = options.delay};
  // PHP's own sends say so as well, and its tools show it.
  if (options.delay.count() > 0) {
    detail::add_stamp(outgoing.message.headers, detail::kDelayStamp,
                      {{"delay", options.delay.count()}});
  }
  detail::note_message_id(outgoing.message.headers, TaskId::generate().to_string());
  return outgoing;
}

std::string Bus::send_json(const std::string& type, std::string body, const SendOptions& options) {
  Transport& transport = transport_for(type);
  const Outgoing outgoing = prepare_json(type, std::move(body), options);
  transport.send({&outgoing, 1});
  return detail::message_id(outgoing.message.headers).value_or("");
}

}  // namespace errand
