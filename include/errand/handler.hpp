#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "errand/codec.hpp"
#include "errand/envelope.hpp"
#include "errand/errors.hpp"
#include "errand/export.hpp"
#include "errand/logger.hpp"
#include "errand/progress.hpp"
#include "errand/task_id.hpp"
#include "errand/task_queue.hpp"

namespace errand {

namespace detail {
class AttemptEnd;
}  // namespace detail

/// Thrown by a handler: this task can never succeed; fail it now, whatever its retry policy.
class ERRAND_EXPORT Unrecoverable : public Error {
 public:
  using Error::Error;
};

/// Thrown by a handler: try again `after` this time instead of the policy's, at most a year. It
/// still counts as one of the attempts.
class ERRAND_EXPORT RetryLater : public Error {
 public:
  RetryLater(std::chrono::milliseconds after, const std::string& reason)
      : Error{reason}, after_{after} {}
  [[nodiscard]] std::chrono::milliseconds after() const noexcept { return after_; }

 private:
  std::chrono::milliseconds after_;
};

/// Thrown by a handler: nothing is wrong with the task; try again by the policy's waits, however
/// often it takes: its max_retries do not count. Give such a policy a max_delay.
class ERRAND_EXPORT Recoverable : public Error {
 public:
  using Error::Error;
};

/// Thrown by a handler that stopped because its stop_token said so: the task becomes cancelled
/// (even if nobody asked for it) or, if the worker is stopping, is handed back without spending an
/// attempt.
class ERRAND_EXPORT Cancelled : public Error {
 public:
  Cancelled() : Error{"stopped on request"} {}
  using Error::Error;
};

/// Thrown by Handlers::run(): this program cannot serve the type. Another one may.
class ERRAND_EXPORT HandlerNotFound : public Error {
 public:
  HandlerNotFound(const std::string& type, const std::vector<std::string>& known);
};

/// Thrown by Handlers::run() if more than one handler of the type threw. Where all of them threw
/// Unrecoverable, that is thrown instead, and Recoverable where one did.
class ERRAND_EXPORT HandlersFailed : public Error {
 public:
  using Error::Error;
};

/// What a handler knows of the attempt it serves. Valid during the call; progress() and log() may
/// be called from any thread meanwhile.
class ERRAND_EXPORT TaskContext {
 public:
  using ProgressSink = std::function<void(Progress)>;

  /// Public so that a handler can be tested without a worker.
  explicit TaskContext(TaskId id, int attempt = 1, std::stop_token stop = {},
                       Logger& logger = silent_logger(), ProgressSink progress = {})
      : id_{id},
        attempt_{attempt},
        stop_{std::move(stop)},
        logger_{&logger},
        progress_{std::move(progress)} {}

  /// As workers do; `claim` must outlive it.
  TaskContext(const Claim& claim, std::stop_token stop, Logger& logger, ProgressSink progress)
      : TaskContext{claim.lease.id, claim.attempt, std::move(stop), logger, std::move(progress)} {
    claim_ = &claim;
  }
  TaskContext(const TaskContext&) = delete;
  TaskContext& operator=(const TaskContext&) = delete;

  /// Of a message without a record it is the delivery's: of no meaning elsewhere.
  [[nodiscard]] TaskId id() const noexcept { return id_; }

  /// Of a message without a record: the same in all of its attempts, whichever program makes them.
  /// Empty: this is a task, and id() is what stays.
  [[nodiscard]] std::string_view message_id() const noexcept {
    return claim_ != nullptr ? std::string_view{claim_->message_id} : std::string_view{};
  }

  /// From 1. Above 1, effects of an earlier attempt may be there already.
  [[nodiscard]] int attempt() const noexcept { return attempt_; }

  /// No retry would follow a failure of this attempt.
  [[nodiscard]] bool is_last_attempt() const noexcept {
    return claim_ != nullptr && claim_->attempt > claim_->retry.max_retries;
  }

  /// What came with the message; empty if nothing did.
  [[nodiscard]] const Headers& headers() const noexcept {
    static const Headers none;
    return claim_ != nullptr ? claim_->envelope.headers() : none;
  }

  [[nodiscard]] std::string_view queue() const noexcept {
    return claim_ != nullptr ? std::string_view{claim_->queue} : kDefaultQueue;
  }

  /// Stops when somebody cancels the task, the lease is lost, or the worker's grace period ends.
  [[nodiscard]] const std::stop_token& stop_token() const noexcept { return stop_; }

  /// Throws Cancelled if a stop was requested.
  void throw_if_stopped() const {
    if (stop_.stop_requested()) throw Cancelled{};
  }

  /// Cheap; the newest value reaches the storage twice a second.
  void progress(std::int64_t done, std::int64_t total, std::string note = {}) {
    if (progress_) progress_(Progress{done, total, std::move(note)});
  }

  [[nodiscard]] Logger& log() const noexcept { return *logger_; }

 private:
  friend class detail::AttemptEnd;

  TaskId id_;
  int attempt_;
  std::stop_token stop_;
  Logger* logger_;
  ProgressSink progress_;
  const Claim* claim_ = nullptr;
  bool completed_ = false;
  bool lease_lost_ = false;
};

namespace detail {

/// For engines that end an attempt themselves, in a transaction of the handler's: what the handler
/// still returns or throws does not count then.
class AttemptEnd {
 public:
  explicit AttemptEnd(TaskContext& context) noexcept : context_{context} {}

  /// The right to end the attempt; nullopt without a worker.
  [[nodiscard]] std::optional<Lease> lease() const noexcept {
    if (context_.claim_ == nullptr) return std::nullopt;
    return context_.claim_->lease;
  }

  void set_completed() noexcept { context_.completed_ = true; }
  void set_lease_lost() noexcept { context_.lease_lost_ = true; }

  [[nodiscard]] bool is_completed() const noexcept { return context_.completed_; }
  [[nodiscard]] bool is_lease_lost() const noexcept { return context_.lease_lost_; }

 private:
  TaskContext& context_;
};

}  // namespace detail

/// A handler without types: JSON in, JSON out.
using RawHandler = std::function<std::string(const Envelope&, TaskContext&)>;

/// The rest of the chain; returns the result's JSON.
using Next = std::function<std::string()>;

/// Wraps every handler: may look, time, log, open a transaction, refuse by throwing, or change the
/// result. Called by many threads at once.
using Middleware = std::function<std::string(const Envelope&, TaskContext&, const Next&)>;

/// Which function serves which type. Fill it before workers start; after that it is only read.
class ERRAND_EXPORT Handlers {
 public:
  /// `handler` is called as handler(const Message&, TaskContext&) or handler(const Message&), by
  /// many threads at once; what it returns, or null if void, becomes the result.
  /// Throws ConfigurationException if the type has a handler already.
  template <class Message, class F>
  void add(const std::string& type, F handler) {
    add_raw(type, raw<Message>(std::move(handler)));
  }

  /// As add(), for a type that has a handler, or more, already. All of them run, in the order of
  /// their registration and whatever the others throw; the result is the first one's. Each must
  /// bear to run again: if one fails, the next attempt is everybody's.
  template <class Message, class F>
  void also(const std::string& type, F handler) {
    also_raw(type, raw<Message>(std::move(handler)));
  }

  void add_raw(const std::string& type, RawHandler handler);
  void also_raw(const std::string& type, RawHandler handler);

  /// The first one added is the outermost.
  void use(Middleware middleware);

  [[nodiscard]] bool has(std::string_view type) const;
  [[nodiscard]] std::vector<std::string> types() const;

  /// Runs the chain for the envelope's type; throws what it throws. HandlerNotFound names
  /// the types there are; HandlersFailed tells of several.
  [[nodiscard]] std::string run(const Envelope& envelope, TaskContext& context) const;

 private:
  template <class Message, class F>
  static RawHandler raw(F handler) {
    return [handler = std::move(handler)](const Envelope& envelope, TaskContext& context) {
      const auto message = decode_message<Message>(envelope);
      auto call = [&]() -> decltype(auto) {
        if constexpr (std::invocable<const F&, const Message&, TaskContext&>) {
          return std::invoke(handler, message, context);
        } else {
          static_assert(std::invocable<const F&, const Message&>,
                        "a handler takes (const Message&) or (const Message&, TaskContext&)");
          return std::invoke(handler, message);
        }
      };
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return std::string{"null"};
      } else {
        return encode(call());
      }
    };
  }

  /// A body that does not fit will not fit next time either.
  template <class Message>
  static Message decode_message(const Envelope& envelope) {
    try {
      return decode<Message>(envelope.body());
    } catch (const ValidationException& error) {
      throw Unrecoverable{"the payload of " + envelope.type() + " does not fit: " + error.what()};
    }
  }

  std::map<std::string, std::vector<RawHandler>, std::less<>> handlers_;
  std::vector<Middleware> middleware_;
};

}  // namespace errand
