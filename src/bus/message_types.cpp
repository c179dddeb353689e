#include <string>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"
#include "errand/message.hpp"

#include "core/document_rules.hpp"

namespace errand {

void MessageTypes::add(const std::type_info& message, std::string_view type) {
  const std::string cpp_name = readable_type_name(message);
  try {
    detail::check_label("the type name of " + cpp_name, type);
  } catch (const ValidationException& error) {
    throw ConfigurationException{error.what()};
  }
  const auto [entry, added] = names_.try_emplace(message, type);
  if (!added && entry->second != type) {
    throw ConfigurationException{cpp_name + " has the type name " + entry->second +
                                 " already and cannot have " + std::string{type} + " as well"};
  }
}

const std::string& MessageTypes::name_of(const std::type_info& message) const {
  const auto found = names_.find(message);
  if (found == names_.end()) {
    const std::string cpp_name = readable_type_name(message);
    throw ConfigurationException{cpp_name + " has no type name: call message<" + cpp_name +
                                 ">(\"some.name\") or handle<" + cpp_name +
                                 ">(\"some.name\", …) before submitting one"};
  }
  return found->second;
}

}  // namespace errand
