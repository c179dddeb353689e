#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "errand/exception_data.hpp"
#include "errand/task_catalog.hpp"
#include "errand/task_id.hpp"

#include "http/query.hpp"
#include "http/request.hpp"

/// Which failures a request is about.
namespace errand::http {

/// Tasks that failed, or messages in a failure transport.
enum class FailureKind : std::uint8_t { task, message };

/// `kind` of a request; tasks without it. Throws Problem 400.
[[nodiscard]] FailureKind kind_of(const Query& query);

/// The message of an error as lists show it.
[[nodiscard]] std::string short_message(const ExceptionData& error);

struct FailureFilter {
  TaskFilter tasks{{TaskStatus::failed}, {}, {}};
  std::optional<std::string> error_class{};
  std::optional<std::string> pattern{};  ///< of the message: what a group has in common

  [[nodiscard]] static FailureFilter of(const Query& query);

  /// What it asks for is inside the error, and no storage has an index of that.
  [[nodiscard]] bool looks_inside() const { return error_class || pattern; }

  [[nodiscard]] bool chooses(const ExceptionData& error) const;
};

/// Which failures to change, as a body says: by ids, by filter, or all.
struct FailedChoice {
  FailureKind kind = FailureKind::task;
  std::vector<TaskId> task_ids{};
  std::vector<std::string> message_ids{};
  FailureFilter filter{};
  std::optional<std::string> transport{};  ///< of messages: the failure transport they are in
  std::optional<std::string> to{};         ///< of messages: where they go to be tried again

  /// Throws Problem: 415, 400 for what is not JSON, 422 for what is no choice.
  [[nodiscard]] static FailedChoice of(const Request& request);
};

}  // namespace errand::http
