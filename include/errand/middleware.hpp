#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errand/codec.hpp"
#include "errand/envelope.hpp"
#include "errand/export.hpp"
#include "errand/handler.hpp"

/// What many handlers have around them. Give it to Handlers::use(), the outermost first:
///
///     handlers.use(errand::log_runs());
///     handlers.use(errand::validate_by(rules));
///     handlers.use(errand::in_transaction([&] { return pool.begin(); }));
namespace errand {

/// What messages must be like beyond their shape, by type.
///
///     rules.add<SendEmail>("email.send", [](const SendEmail& email) {
///       if (!email.to.contains('@')) throw errand::ValidationException{"`to` is no address"};
///     });
///
/// Fill it first; then it may be used from any thread.
class ERRAND_EXPORT Rules {
 public:
  /// `rule` throws ValidationException for what it refuses. A type may have several.
  template <class Message, class Rule>
  Rules& add(const std::string& type, Rule rule) {
    rules_[type].push_back([rule = std::move(rule)](const Envelope& envelope) {
      rule(decode<Message>(envelope.body()));
    });
    return *this;
  }

  /// Throws ValidationException that names the type; also for a body that does not fit it.
  void check(const Envelope& envelope) const;

 private:
  std::map<std::string, std::vector<std::function<void(const Envelope&)>>, std::less<>> rules_;
};

/// Refuses what breaks a rule: it is Unrecoverable, for it would break it next time, too. `rules`
/// must outlive the handlers. For the sender's side see Bus::check_by().
[[nodiscard]] ERRAND_EXPORT Middleware validate_by(const Rules& rules);

/// A unit of work that a handler takes part in; destroyed without commit() it is rolled back.
class ERRAND_EXPORT Transaction {
 public:
  virtual ~Transaction() = default;
  virtual void commit() = 0;
};

/// Begins one for each run, on the thread that runs the handler; commits it when the handlers
/// return. If they throw, or commit() does, that goes on, and the attempt has failed. The message
/// or task itself ends later: a crash in between runs the handler again. Where both must be one,
/// see CompletingTransaction in postgres.hpp.
[[nodiscard]] ERRAND_EXPORT Middleware
in_transaction(std::function<std::unique_ptr<Transaction>()> begin);

/// Logs each run with its time: at level debug, a failure as a warning.
[[nodiscard]] ERRAND_EXPORT Middleware log_runs();

}  // namespace errand
