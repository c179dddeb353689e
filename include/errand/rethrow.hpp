#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"
#include "errand/export.hpp"

namespace errand {

/// Which exception types a failed task throws again as themselves. Fill it before use.
class ERRAND_EXPORT ExceptionTypes {
 public:
  /// E is built from the ExceptionData, or else from its message. `class_name` is what workers
  /// store; by default the C++ name of E. Another one lets, say, PHP's `RuntimeException` arrive
  /// as a C++ type.
  template <class E>
  void add(std::string class_name = readable_type_name(typeid(E))) {
    throwers_.insert_or_assign(std::move(class_name), [](const ExceptionData& data) {
      if constexpr (std::constructible_from<E, const ExceptionData&>) {
        std::throw_with_nested(E{data});
      } else {
        static_assert(std::constructible_from<E, const std::string&>,
                      "the exception needs a constructor from ExceptionData or std::string");
        std::throw_with_nested(E{data.message});
      }
    });
  }

  /// Throws the registered type of the error, with the TaskFailedException nested in it
  /// (std::rethrow_if_nested gives it); a type that is not registered: TaskFailedException itself.
  [[noreturn]] void rethrow(TaskId id, const ExceptionData& error) const;

 private:
  std::map<std::string, std::function<void(const ExceptionData&)>, std::less<>> throwers_;
};

}  // namespace errand
