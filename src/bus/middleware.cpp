#include "errand/middleware.hpp"

#include <chrono>
#include <exception>
#include <fmt/format.h>

#include "errand/errors.hpp"

namespace errand {

void Rules::check(const Envelope& envelope) const {
  const auto found = rules_.find(envelope.type());
  if (found == rules_.end()) return;
  try {
    for (const auto& rule : found->second) rule(envelope);
  } catch (const ValidationException& error) {
    throw ValidationException{envelope.type() + ": " + error.what()};
  }
}

Middleware validate_by(const Rules& rules) {
  return [&rules](const Envelope& envelope, TaskContext&, const Next& next) {
    try {
      rules.check(envelope);
    } catch (const ValidationException& error) {
      throw Unrecoverable{error.what()};
    }
    return next();
  };
}

Middleware in_transaction(std::function<std::unique_ptr<Transaction>()> begin) {
  return [begin = std::move(begin)](const Envelope&, TaskContext&, const Next& next) {
    const std::unique_ptr<Transaction> transaction = begin();
    std::string result = next();
    transaction->commit();
    return result;
  };
}

Middleware log_runs() {
  using Clock = std::chrono::steady_clock;
  return [](const Envelope& envelope, TaskContext& context, const Next& next) {
    const auto start = Clock::now();
    const auto line = [&](const std::string& what) {
      const std::chrono::duration<double, std::milli> time = Clock::now() - start;
      return fmt::format("{} {}, attempt {}: {} after {:.1f} ms", envelope.type(),
                         context.id().to_string(), context.attempt(), what, time.count());
    };
    try {
      std::string result = next();
      context.log().debug(line("done"));
      return result;
    } catch (...) {
      const ExceptionData error = describe_exception(std::current_exception());
      context.log().warning(line(error.class_name + ": " + error.message));
      throw;
    }
  };
}

}  // namespace errand
