#include "invoice_intake/intake/process_request.hpp"

#include "errand/codec.hpp"

namespace errand::invoices {

NewTask make_request(EmailProcessingTask& task, std::chrono::milliseconds delay) {
  NewTask request{.envelope =
                      Envelope{std::string{to_string(task.task_type)},
                               encode(ProcessRequest{task.user_id.text(), task.id.text()})}};
  request.queue = kQueue;
  request.delay = delay;
  // The row decides how often; this is only never fewer.
  request.retry.max_retries = task.max_retries;
  task.task_id = request.id.to_string();
  return request;
}

}  // namespace errand::invoices
