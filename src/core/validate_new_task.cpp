#include <cstddef>
#include <limits>
#include <string>

#include "errand/errors.hpp"
#include "errand/task.hpp"
#include "errand/task_queue.hpp"

#include "core/document_rules.hpp"
#include "core/utf8.hpp"

namespace errand {
namespace {

void check_headers(const Headers& headers) {
  constexpr std::size_t kMaxHeaders = 64;
  constexpr std::size_t kMaxHeaderBytes = std::size_t{64} * 1024;
  if (headers.size() > kMaxHeaders) {
    throw ValidationException{"headers: there are " + std::to_string(headers.size()) +
                              "; at most " + std::to_string(kMaxHeaders) + " are allowed"};
  }
  std::size_t bytes = 0;
  for (const auto& [name, value] : headers) {
    if (name.empty()) throw ValidationException{"headers: a name must not be empty"};
    detail::check_document("headers: a name", name, kMaxHeaderBytes);
    detail::check_document("header " + detail::repair_and_cut_utf8(name, 64), value,
                           kMaxHeaderBytes);
    bytes += name.size() + value.size();
  }
  if (bytes > kMaxHeaderBytes) {
    throw ValidationException{"headers: they have " + std::to_string(bytes) +
                              " bytes in all; at most " + std::to_string(kMaxHeaderBytes) +
                              " are allowed"};
  }
}

}  // namespace

void validate(const NewTask& task) {
  using PriorityRange = std::numeric_limits<std::int16_t>;
  constexpr std::chrono::milliseconds kMaxDelay = std::chrono::days{3653};

  detail::check_label("type", task.envelope.type());
  detail::check_label("queue", task.queue);
  if (task.priority < PriorityRange::min() || task.priority > PriorityRange::max()) {
    throw ValidationException{"priority: must be between -32768 and 32767, and is " +
                              std::to_string(task.priority)};
  }
  if (task.delay.count() < 0 || task.delay > kMaxDelay) {
    throw ValidationException{"delay: must be between 0 and 10 years, and is " +
                              std::to_string(task.delay.count()) + " ms"};
  }
  validate(task.retry);
  detail::check_document("payload", task.envelope.body(), kMaxDocumentBytes);
  check_headers(task.envelope.headers());
}

}  // namespace errand
