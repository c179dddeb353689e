#pragma once

#include <boost/describe/class.hpp>
#include <string>

#include "errand/task_queue.hpp"

#include "invoice_intake/model/email_task.hpp"

namespace errand::invoices {

/// The queue of this program's Errand tasks.
inline constexpr const char* kQueue = "invoices";

/// The payload of an Errand task: which row to process, and on whose behalf. Its type is the row's
/// task_type.
struct ProcessRequest {
  std::string user;
  std::string email_task;
};
BOOST_DESCRIBE_STRUCT(ProcessRequest, (), (user, email_task))

/// The Errand task for `task`, whose task_id becomes its id.
[[nodiscard]] NewTask make_request(EmailProcessingTask& task,
                                   std::chrono::milliseconds delay = std::chrono::milliseconds{0});

}  // namespace errand::invoices
