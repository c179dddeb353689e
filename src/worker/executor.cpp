#include "worker/executor.hpp"

#include <exception>
#include <fmt/format.h>
#include <random>
#include <utility>

#include "errand/task.hpp"

#include "core/attempt.hpp"
#include "core/document_rules.hpp"
#include "core/log_scope.hpp"
#include "core/traceparent.hpp"
#include "worker/throw_site.hpp"

namespace errand::detail {
namespace {

double random_fraction() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>{0.0, 1.0}(generator);
}

/// What operators know it by.
std::string id_of(const Claim& claim) {
  return claim.message_id.empty() ? claim.lease.id.to_string() : claim.message_id;
}

void log_failure(Logger& logger, const Claim& claim, const Outcome& outcome) {
  const auto write = [&](const ExceptionData& error, const std::string& next) {
    logger.warning(fmt::format("{} {} attempt {} failed: {}: {}; {}", claim.envelope.type(),
                               id_of(claim), claim.attempt, error.class_name, error.message, next));
  };
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    write(failed->error, "no further attempt");
  } else if (const auto* retried = std::get_if<Retried>(&outcome)) {
    // When a message comes again its transport decides, and says.
    write(retried->error, claim.message_id.empty()
                              ? fmt::format("next attempt in {} ms", retried->after.count())
                              : "it is tried again");
  }
}

}  // namespace

void HeldTask::ask_to_stop(StopReason reason) {
  StopReason none = StopReason::none;
  reason_.compare_exchange_strong(none, reason);
  stop_.request_stop();
}

void HeldTask::set_progress(Progress progress) {
  const std::lock_guard lock{progress_mutex_};
  progress_ = std::move(progress);
}

std::optional<Progress> HeldTask::take_progress() {
  const std::lock_guard lock{progress_mutex_};
  return std::exchange(progress_, std::nullopt);
}

void HeldTask::give_progress_back(Progress progress) {
  const std::lock_guard lock{progress_mutex_};
  if (!progress_) progress_ = std::move(progress);
}

AttemptResult Executor::run(HeldTask& task) const noexcept {
  const Claim& claim = task.claim();
  // A stop that came before the start needs no handler.
  if (task.stop_reason() != StopReason::none) return stopped(task);
  const ThrowSiteScope scope;
  const LogScope logged{claim.lease.id, claim.message_id, claim.envelope.type(), claim.attempt,
                        trace_id(claim.envelope.headers())};
  Failure failure;
  try {
    return attempt(task);
  } catch (const Cancelled&) {
    return stopped(task);
  } catch (const Unrecoverable&) {
    failure.kind = FailureKind::unrecoverable;
    failure.error = describe_with_throw_sites(std::current_exception());
  } catch (const Recoverable&) {
    failure.kind = FailureKind::recoverable;
    failure.error = describe_with_throw_sites(std::current_exception());
  } catch (const RetryLater& later) {
    failure.kind = FailureKind::retry_later;
    failure.after = later.after();
    failure.error = describe_with_throw_sites(std::current_exception());
  } catch (...) {
    failure.error = describe_with_throw_sites(std::current_exception());
  }
  Outcome outcome =
      after_failure(claim.retry, claim.attempt, std::move(failure), random_fraction());
  log_failure(logger_, claim, outcome);
  return outcome;
}

AttemptResult Executor::attempt(HeldTask& task) const {
  const Claim& claim = task.claim();
  TaskContext context{claim, task.stop_token(), logger_,
                      [&task](Progress progress) { task.set_progress(std::move(progress)); }};
  const AttemptEnd end{context};
  std::string result;
  try {
    result = handlers_.run(claim.envelope, context);
  } catch (...) {
    if (!end.is_completed() && !end.is_lease_lost()) throw;
    if (end.is_completed()) {
      logger_.warning(
          fmt::format("{} {} is completed; what its handler threw after that is dropped: {}",
                      claim.envelope.type(), id_of(claim),
                      describe_with_throw_sites(std::current_exception()).message));
    }
  }
  if (end.is_completed()) return EndedByHandler::completed;
  if (end.is_lease_lost()) {
    logger_.warning(fmt::format("{} {} was taken over meanwhile; this attempt is rolled back",
                                claim.envelope.type(), id_of(claim)));
    return EndedByHandler::lease_lost;
  }
  try {
    check_document("result", result, kMaxDocumentBytes);
  } catch (const ValidationException& error) {
    throw Unrecoverable{error.what()};
  }
  return Outcome{Completed{std::move(result)}};
}

Outcome Executor::stopped(const HeldTask& task) const {
  if (task.stop_reason() == StopReason::shutdown) return Released{};
  return CancelHonoured{};
}

}  // namespace errand::detail
