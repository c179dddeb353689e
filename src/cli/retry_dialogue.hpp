#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "errand/exception_data.hpp"

#include "terminal/console.hpp"

/// `errand failed retry --interactive`: one failure after the other, and a person's word on each.
namespace errand::cli {

struct Failure {
  std::string id;
  std::string type;
  std::string where;  ///< its queue or transport
  std::string body;
  ExceptionData error;
};

/// Whether it was done: somebody else may have dealt with the failure while a person thought.
struct RetryDialogue {
  std::function<bool(const Failure&)> retry;
  std::function<bool(const Failure&)> remove;
};

struct DialogueResult {
  std::size_t retried = 0;
  std::size_t removed = 0;
  std::size_t skipped = 0;  ///< also those behind a quit, and what could not be done
};

/// Throws ConfigurationException where nobody can answer.
void require_dialogue(const terminal::Console& console);

DialogueResult go_through(const std::vector<Failure>& failures, const RetryDialogue& dialogue,
                          terminal::Console& console);

}  // namespace errand::cli
