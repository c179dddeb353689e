#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "errand/task_status.hpp"

#include "http/response.hpp"

namespace errand::http {

/// Thrown where a request cannot be served: becomes an application/problem+json answer (RFC 9457).
/// `detail` says what is wrong and what would be right.
class Problem : public std::runtime_error {
 public:
  Problem(unsigned status, const std::string& detail)
      : std::runtime_error{detail}, status_{status} {}

  /// For programs that want to tell this problem from others of the same status: `urn:errand:NAME`.
  Problem&& named(std::string name) && {
    name_ = std::move(name);
    return std::move(*this);
  }
  Problem&& adding(const std::string& detail) && {
    static_cast<std::runtime_error&>(*this) = std::runtime_error{what() + detail};
    return std::move(*this);
  }
  Problem&& at_pointer(std::string pointer) && {
    pointer_ = std::move(pointer);
    return std::move(*this);
  }
  Problem&& at_line(std::int64_t line) && {
    line_ = line;
    return std::move(*this);
  }
  Problem&& of_parameter(std::string name) && {
    parameter_ = std::move(name);
    return std::move(*this);
  }
  Problem&& of_task(TaskStatus status) && {
    task_status_ = status;
    return std::move(*this);
  }
  Problem&& with_header(std::string name, std::string value) && {
    headers_.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
  }

  [[nodiscard]] unsigned status() const noexcept { return status_; }
  [[nodiscard]] Response response() const;

 private:
  unsigned status_;
  std::string name_;
  std::string pointer_;
  std::string parameter_;
  std::optional<std::int64_t> line_;
  std::optional<TaskStatus> task_status_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

/// What `error` means to a client: a Problem as it is, Errand's exceptions by their kind, anything
/// else 500 without a word about the inside.
[[nodiscard]] Response problem_response(const std::exception_ptr& error);

/// `Not Found` for 404.
[[nodiscard]] std::string_view reason_of(unsigned status) noexcept;

}  // namespace errand::http
