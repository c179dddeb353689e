#pragma once

#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>

#include "errand/export.hpp"

namespace errand {

/// The stable names of message types, for those who send them. A name is part of what is stored:
/// it outlives the struct's name, its namespace and the compiler. Fill it before use.
class ERRAND_EXPORT MessageTypes {
 public:
  /// Throws ConfigurationException if Message has another name already.
  template <class Message>
  void add(std::string_view type) {
    add(typeid(Message), type);
  }

  /// Throws ConfigurationException, with the call that is missing, if Message has no name.
  template <class Message>
  [[nodiscard]] const std::string& name_of() const {
    return name_of(typeid(Message));
  }

 private:
  void add(const std::type_info& message, std::string_view type);
  [[nodiscard]] const std::string& name_of(const std::type_info& message) const;

  std::unordered_map<std::type_index, std::string> names_;
};

}  // namespace errand
