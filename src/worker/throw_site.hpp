#pragma once

#include <exception>

#include "errand/exception_data.hpp"

namespace errand::detail {

/// While one lives, this thread's throws leave a note of where they happened: a few microseconds
/// each, in handlers only. Scopes may nest.
class ThrowSiteScope {
 public:
  ThrowSiteScope() noexcept;
  ~ThrowSiteScope();
  ThrowSiteScope(const ThrowSiteScope&) = delete;
  ThrowSiteScope& operator=(const ThrowSiteScope&) = delete;
};

/// describe_exception() with file, line and trace, for it and for what it is nested in, as far as
/// this thread's notes reach back. Call it inside the scope.
[[nodiscard]] ExceptionData describe_with_throw_sites(const std::exception_ptr& error);

}  // namespace errand::detail
