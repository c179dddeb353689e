#include <exception>
#include <span>
#include <string>
#include <utility>

#include "errand/exception_data.hpp"
#include "errand/handler.hpp"

#include "core/document_rules.hpp"
#include "core/utf8.hpp"

namespace errand {
namespace {

/// One run of a handler inside its middleware.
struct Run {
  std::span<const Middleware> middleware;
  std::span<const RawHandler> handlers;
  const Envelope& envelope;
  TaskContext& context;

  [[nodiscard]] std::string from(std::size_t layer) const {
    if (layer == middleware.size()) return run_handlers();
    // Two words: std::function keeps them without an allocation.
    const Next next = [this, layer] { return from(layer + 1); };
    return middleware[layer](envelope, context, next);
  }

  [[nodiscard]] std::string run_handlers() const {
    if (handlers.size() == 1) return handlers.front()(envelope, context);
    std::vector<std::exception_ptr> errors;
    std::string result;
    for (std::size_t i = 0; i < handlers.size(); ++i) {
      try {
        std::string own = handlers[i](envelope, context);
        if (i == 0) result = std::move(own);
      } catch (const Cancelled&) {
        throw;  // a stop is everybody's
      } catch (...) {
        errors.push_back(std::current_exception());
      }
    }
    if (errors.empty()) return result;
    if (errors.size() == 1) std::rethrow_exception(errors.front());
    throw_all(errors);
  }

  [[noreturn]] void throw_all(std::span<const std::exception_ptr> errors) const {
    std::string message = std::to_string(errors.size()) + " of " + std::to_string(handlers.size()) +
                          " handlers failed";
    std::size_t unrecoverable = 0;
    bool recoverable = false;
    for (const std::exception_ptr& error : errors) {
      const ExceptionData data = describe_exception(error);
      message += (&error == errors.data() ? ": " : "; ") + data.class_name + ": " + data.message;
      try {
        std::rethrow_exception(error);
      } catch (const Unrecoverable&) {
        ++unrecoverable;
      } catch (const Recoverable&) {
        recoverable = true;
      } catch (...) {
        continue;
      }
    }
    if (unrecoverable == errors.size()) throw Unrecoverable{message};
    if (recoverable) throw Recoverable{message};
    throw HandlersFailed{message};
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
  if (has(type)) throw ConfigurationException{"type " + type + " has a handler already"};
  also_raw(type, std::move(handler));
}

void Handlers::also_raw(const std::string& type, RawHandler handler) {
  try {
    detail::check_label("the type of a handler", type);
  } catch (const ValidationException& error) {
    throw ConfigurationException{error.what()};
  }
  if (!handler) throw ConfigurationException{"the handler for type " + type + " is empty"};
  handlers_[type].push_back(std::move(handler));
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
