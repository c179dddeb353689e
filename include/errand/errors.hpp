#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "errand/exception_data.hpp"
#include "errand/export.hpp"
#include "errand/task_id.hpp"

/// The exceptions of Errand, sorted by what the caller can do next.
///
///     Error
///       ConfigurationException            correct the DSN, option or registration
///       ValidationException               correct the data; nothing was stored
///       StorageException                  see retry()
///       ConcurrentModificationException   load again and decide again
///       TaskNotFoundException             there is no such task
///         TaskExpiredException            there was: its result was kept for the TTL only
///       TimeoutException                  wait longer; the task goes on
///       TaskCancelledException            the task was cancelled
///       TaskFailedException               the handler failed: see data()
///
/// Handlers throw Unrecoverable, Recoverable, RetryLater or Cancelled to say what comes next; see
/// handler.hpp.
namespace errand {

class ERRAND_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ERRAND_EXPORT ConfigurationException : public Error {
 public:
  using Error::Error;
};

class ERRAND_EXPORT ValidationException : public Error {
 public:
  using Error::Error;
};

/// The storage did not do what it was asked.
class ERRAND_EXPORT StorageException : public Error {
 public:
  enum class Retry {
    helps,    ///< passing trouble: unreachable, busy; nothing was changed
    useless,  ///< it will fail again: read-only, full, corrupt, wrong schema; nothing was changed
    in_doubt  ///< the connection broke after COMMIT was sent: look before repeating. Submitting
              ///< the same ids again is safe.
  };

  StorageException(const std::string& message, Retry retry) : Error{message}, retry_{retry} {}
  [[nodiscard]] Retry retry() const noexcept { return retry_; }

 private:
  Retry retry_;
};

class ERRAND_EXPORT ConcurrentModificationException : public Error {
 public:
  using Error::Error;
};

class ERRAND_EXPORT TaskNotFoundException : public Error {
 public:
  explicit TaskNotFoundException(TaskId id)
      : TaskNotFoundException{id, "no task " + id.to_string() + " in this storage"} {}
  [[nodiscard]] TaskId id() const noexcept { return id_; }

 protected:
  TaskNotFoundException(TaskId id, const std::string& message) : Error{message}, id_{id} {}

 private:
  TaskId id_;
};

class ERRAND_EXPORT TaskExpiredException : public TaskNotFoundException {
 public:
  explicit TaskExpiredException(TaskId id)
      : TaskNotFoundException{
            id, "task " + id.to_string() + " has expired: its result was kept for the TTL only"} {}
};

class ERRAND_EXPORT TimeoutException : public Error {
 public:
  using Error::Error;
};

class ERRAND_EXPORT TaskCancelledException : public Error {
 public:
  explicit TaskCancelledException(TaskId id)
      : Error{"task " + id.to_string() + " was cancelled"}, id_{id} {}
  [[nodiscard]] TaskId id() const noexcept { return id_; }

 private:
  TaskId id_;
};

class ERRAND_EXPORT TaskFailedException : public Error {
 public:
  TaskFailedException(TaskId id, ExceptionData data)
      : Error{data.class_name + ": " + data.message}, id_{id}, data_{std::move(data)} {}
  [[nodiscard]] TaskId id() const noexcept { return id_; }
  [[nodiscard]] const ExceptionData& data() const noexcept { return data_; }

 private:
  TaskId id_;
  ExceptionData data_;
};

}  // namespace errand
