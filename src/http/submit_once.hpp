#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>

#include "errand/engine.hpp"

#include "http/submit_body.hpp"

/// Submits that may be repeated: under an id that the client chose, or that its key stands for, one
/// task is stored, and who asks for another one under the same id is told so.
namespace errand::http {

/// One of the submits that share a transaction, and what became of it.
struct Submission {
  RequestedTask requested;

  /// The task was stored before this request, and is left as it is.
  struct Before {
    std::string queue;
    TaskStatus status;
  };
  std::optional<Before> before{};

  /// Why it is not stored: Problem 422 if its id belongs to another task.
  std::exception_ptr error{};

  [[nodiscard]] bool is_new() const noexcept { return !before && !error; }
};

/// Fills in `before` and `error` of those whose id is taken already, in the storage or by an
/// earlier one of `submissions`. Throws StorageException.
void look_before(Engine& engine, std::span<Submission> submissions);

/// Stores those that are new, in one transaction. Fills in `error` where somebody else took the id
/// since look_before(). Throws StorageException.
void store_new(Engine& engine, std::span<Submission> submissions);

}  // namespace errand::http
