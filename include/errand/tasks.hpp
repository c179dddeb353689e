#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "errand/codec.hpp"
#include "errand/engine.hpp"
#include "errand/export.hpp"
#include "errand/future.hpp"
#include "errand/message.hpp"
#include "errand/rethrow.hpp"

namespace errand {

struct SubmitOptions {
  std::string queue = kDefaultQueue;
  std::chrono::milliseconds delay{0};  ///< run not before this much later
  int priority = 0;                    ///< higher runs first
  RetryPolicy retry{};
  Headers headers{};
  std::optional<TaskId>
      id{};  ///< submit again under the same id after a doubtful error: stored once
};

struct WaitOptions {
  /// The longest that reads of the storage are put off to share one. Reads come at once while few
  /// futures wait, and at most this often when 5,000 or more do.
  std::chrono::milliseconds poll_interval{100};

  /// How often to look although no signal came; where signals cannot come, poll_interval rules.
  std::chrono::milliseconds fallback_interval{1000};
};

namespace detail {
class SubmitBatcher;
class CompletionWaiter;

/// A message may name its result: `using Result = Receipt;`
template <class Message>
struct FutureOf {
  using type = TaskHandle;
};
template <class Message>
requires requires { typename Message::Result; }
struct FutureOf<Message> {
  using type = TaskFuture<typename Message::Result>;
};
}  // namespace detail

/// Submits tasks and finds them again. Thread-safe; meant to be shared by a whole program.
class ERRAND_EXPORT Tasks {
 public:
  /// All references must outlive this.
  Tasks(Engine& engine, const MessageTypes& messages, const ExceptionTypes& exceptions,
        WaitOptions wait = {});
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  /// Durable on return. Calls of several threads at once share one transaction. Throws
  /// ConfigurationException (no type name), ValidationException, StorageException.
  /// Returns TaskFuture<Message::Result> if Message has a Result, else a TaskHandle, which converts
  /// to the TaskFuture wanted.
  template <class Message>
  typename detail::FutureOf<Message>::type submit(const Message& message,
                                                  const SubmitOptions& options = {}) {
    using Future = typename detail::FutureOf<Message>::type;
    return Future{submit_encoded(messages_.name_of<Message>(), encode(message), options)};
  }

  /// All of them or, if it throws, none: one transaction. `options.id` must be empty.
  template <std::ranges::input_range Range>
  auto submit_all(Range&& range, const SubmitOptions& options = {}) {
    using Message = std::ranges::range_value_t<Range>;
    using Future = typename detail::FutureOf<Message>::type;
    const std::string& type = messages_.name_of<Message>();
    refuse_one_id_for_many(options);
    std::vector<NewTask> batch;
    for (const Message& message : range) batch.push_back(make_task(type, encode(message), options));
    submit_batch(batch);
    std::vector<Future> futures;
    futures.reserve(batch.size());
    for (const NewTask& task : batch) futures.push_back(Future{TaskHandle{*this, task.id}});
    return futures;
  }

  /// For callers that have JSON already; `payload` is checked to be JSON.
  TaskHandle submit_json(const std::string& type, std::string payload,
                         const SubmitOptions& options = {});

  /// The task that submit() would store, for engines that can store it in a transaction of the
  /// caller's; find() has its future then.
  template <class Message>
  [[nodiscard]] NewTask prepare(const Message& message, const SubmitOptions& options = {}) const {
    return make_task(messages_.name_of<Message>(), encode(message), options);
  }

  /// One transaction for all; the batch is validated, its bodies are not parsed.
  void submit_batch(std::span<const NewTask> batch);

  /// No I/O: whether there is such a task shows when it is asked for something.
  template <class T>
  [[nodiscard]] TaskFuture<T> find(TaskId id) {
    return TaskFuture<T>{TaskHandle{*this, id}};
  }

  [[nodiscard]] Engine& engine() noexcept { return engine_; }

 private:
  friend class TaskHandle;

  TaskHandle submit_encoded(const std::string& type, std::string payload,
                            const SubmitOptions& options);
  static void refuse_one_id_for_many(const SubmitOptions& options);
  static NewTask make_task(const std::string& type, std::string payload,
                           const SubmitOptions& options);

  Engine& engine_;
  const MessageTypes& messages_;
  const ExceptionTypes& exceptions_;
  std::unique_ptr<detail::SubmitBatcher> batcher_;
  std::unique_ptr<detail::CompletionWaiter> waiter_;
};

}  // namespace errand
