#include <span>
#include <string>
#include <utility>

#include "errand/handler.hpp"

#include "core/document_rules.hpp"
#include "core/utf8.hpp"

namespace errand {
namespace {

/// One run of a handler inside its middleware.
struct Run {
  std::span<const Middleware> middleware;
  const RawHandler& handler;
  const Envelope& envelope;
  TaskContext& context;

  [[nodiscard]] std::string from(std::size_t layer) const {
    if (layer == middleware.size()) return handler(envelope, context);
    // Two words: std::function keeps them without an allocation.
    const Next next = [this, layer] { return from(layer + 1); };
    return middleware[layer](envelope, context, next);
  }
};

std::string no_handler_message(const std::string& type, const std::vector<std::string>& known) {
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  constexpr std::size_t kShown = 190;
  return "no handler for type " + detail::repair_and_cut_utf8(type, kShown) + "; there are " +
         (list.empty() ? "none at all" : "handlers for " + list) +
         ". Add one with handle<Message>(\"TYPE\", …) in the worker program, or with "
         "`errand worker --exec 'TYPE=COMMAND'`";
}

}  // namespace

HandlerNotFound::HandlerNotFound(const std::string& type, const std::vector<std::string>& known)
    : Error{no_handler_message(type, known)} {}

void Handlers::add_raw(const std::string& type, RawHandler handler) {
  try {
    detail::check_label("the type of a handler", type);
  } catch (const ValidationException& error) {
    throw ConfigurationException{error.what()};
  }
  if (!handler) throw ConfigurationException{"the handler for type " + type + " is empty"};
  if (has(type)) throw ConfigurationException{"type " + type + " has a handler already"};
  handlers_[type] = std::move(handler);
}

void Handlers::use(Middleware middleware) {
  if (!middleware) throw ConfigurationException{"the middleware is empty"};
  middleware_.push_back(std::move(middleware));
}

bool Handlers::has(std::string_view type) const { return handlers_.find(type) != handlers_.end(); }

std::vector<std::string> Handlers::types() const {
  std::vector<std::string> names;
  names.reserve(handlers_.size());
  for (const auto& [name, handler] : handlers_) names.push_back(name);
  return names;
}

std::string Handlers::run(const Envelope& envelope, TaskContext& context) const {
  const auto found = handlers_.find(envelope.type());
  if (found == handlers_.end()) throw HandlerNotFound{envelope.type(), types()};
  return Run{middleware_, found->second, envelope, context}.from(0);
}

}  // namespace errand
