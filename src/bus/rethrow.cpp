#include "errand/rethrow.hpp"

namespace errand {

void ExceptionTypes::rethrow(TaskId id, const ExceptionData& error) const {
  const auto thrower = throwers_.find(error.class_name);
  try {
    throw TaskFailedException{id, error};
  } catch (const TaskFailedException&) {
    // Inside the catch block, so that std::throw_with_nested finds what to nest.
    if (thrower != throwers_.end()) thrower->second(error);
    throw;
  }
}

}  // namespace errand
