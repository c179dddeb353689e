#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "errand/export.hpp"

namespace errand::detail {

/// Where in a document a reader or writer stands: a chain on its stack, made into text only for
/// an error message.
class ERRAND_EXPORT JsonPath {
 public:
  JsonPath() = default;
  JsonPath(const JsonPath& parent, std::string_view member) : parent_{&parent}, member_{member} {}
  JsonPath(const JsonPath& parent, std::size_t index)
      : parent_{&parent}, is_index_{true}, index_{index} {}
  JsonPath(const JsonPath&) = delete;
  JsonPath& operator=(const JsonPath&) = delete;

  /// How many members and elements deep.
  [[nodiscard]] std::size_t depth() const noexcept;

  /// `items[2].price`; empty for the document itself.
  [[nodiscard]] std::string to_string() const;

 private:
  const JsonPath* parent_ = nullptr;
  bool is_index_ = false;
  std::string_view member_;
  std::size_t index_ = 0;
};

/// Throws ValidationException: the path, if there is one, then the reason.
[[noreturn]] ERRAND_EXPORT void refuse_json(const JsonPath& path, std::string_view reason);

}  // namespace errand::detail
