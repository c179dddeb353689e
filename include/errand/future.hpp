#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "errand/codec.hpp"
#include "errand/export.hpp"
#include "errand/progress.hpp"
#include "errand/task_id.hpp"
#include "errand/task_queue.hpp"
#include "errand/task_status.hpp"

namespace errand {

class Tasks;

namespace detail {
/// T, or a stand-in where `void(…, void)` would not compile even if unused.
template <class T>
using ValueOf = std::conditional_t<std::is_void_v<T>, std::nullptr_t, T>;
}  // namespace detail

template <class T>
class TaskFuture;

/// A task somebody submitted, here or elsewhere: what can be asked without knowing its result's
/// type. Cheap to copy; thread-safe; must not outlive its Tasks. Forgetting it changes nothing.
class ERRAND_EXPORT TaskHandle {
 public:
  TaskHandle(Tasks& tasks, TaskId id) : tasks_{&tasks}, id_{id} {}

  [[nodiscard]] TaskId id() const noexcept { return id_; }

  /// Asks the storage. Throws TaskNotFoundException, TaskExpiredException, StorageException.
  [[nodiscard]] TaskStatus status() const;

  /// Asks the storage; nullopt if its handler reported none. Throws as status().
  [[nodiscard]] std::optional<Progress> progress() const;

  /// Waits until the task is final: true; false if `timeout` passed first. A timeout of zero looks
  /// once. Throws as status().
  bool wait(std::optional<std::chrono::milliseconds> timeout = std::nullopt) const;

  /// See TaskQueue::cancel(). Throws as status().
  CancelStatus cancel() const;

  /// The result as `T`, once there is one.
  template <class T>
  [[nodiscard]] TaskFuture<T> as() const;

  template <class T>
  operator TaskFuture<T>() const {  // NOLINT(google-explicit-constructor): the point of it
    return as<T>();
  }

  /// The result's JSON. Waits; throws as TaskFuture::get().
  [[nodiscard]] std::string get_json(
      std::optional<std::chrono::milliseconds> timeout = std::nullopt) const;

 protected:
  using JsonCallback = std::function<void(std::exception_ptr, std::string)>;

  using Ticket = std::uint64_t;

  /// `done` is called once, by a thread of Tasks, with what get_json() would give or throw. It
  /// must return soon.
  Ticket when_final(JsonCallback done) const;

  /// True: that `done` will not be called any more; false: it was, or is about to be.
  bool forget(Ticket ticket) const;

 private:
  friend class Tasks;

  Tasks* tasks_;
  TaskId id_;
  std::chrono::steady_clock::time_point submitted_{};  ///< begun then, by `tasks_`; or never
};

/// The result of a task, now or later.
template <class T>
class TaskFuture : public TaskHandle {
 public:
  explicit TaskFuture(const TaskHandle& handle) : TaskHandle{handle} {}

  /// Waits for the result. If the task failed, throws its exception: the registered type (see
  /// ExceptionTypes) or TaskFailedException. Throws TaskCancelledException; TimeoutException when
  /// `timeout` passes first, the task going on; TaskNotFoundException, TaskExpiredException;
  /// ValidationException if the result is not a T; StorageException.
  T get(std::optional<std::chrono::milliseconds> timeout = std::nullopt) const {
    return decode_result(get_json(timeout));
  }

  /// The same without blocking, for Asio's completion tokens: the handler's signature is
  /// void(std::exception_ptr, T), or void(std::exception_ptr) for TaskFuture<void>. It runs on the
  /// handler's associated executor. Cancelling it ends the waiting with operation_aborted; the task
  /// goes on. Defined in errand/async_get.hpp.
  template <class CompletionToken>
  auto async_get(CompletionToken&& token) const;

 private:
  template <class Handler>
  static void complete(Handler handler, std::exception_ptr error, const std::string& json);

  static T decode_result(const std::string& json) {
    if constexpr (!std::is_void_v<T>) return decode<T>(json);
  }
};

template <class T>
TaskFuture<T> TaskHandle::as() const {
  return TaskFuture<T>{*this};
}

}  // namespace errand
