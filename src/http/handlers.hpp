#pragma once

#include "http/routes.hpp"

/// The routes' functions, by the file they are in.
namespace errand::http {

// task_routes.cpp
[[nodiscard]] Response list_tasks(const Call& call);
[[nodiscard]] Response get_task(const Call& call);
[[nodiscard]] Response delete_task(const Call& call);
[[nodiscard]] Response cancel_task(const Call& call);
[[nodiscard]] Response retry_task(const Call& call);
/// The same once query and body were looked at.
[[nodiscard]] Response retry_chosen_task(const Call& call);

// queue_routes.cpp
[[nodiscard]] Response list_queues(const Call& call);
[[nodiscard]] Response pause_queue(const Call& call);
[[nodiscard]] Response resume_queue(const Call& call);
[[nodiscard]] Response purge_queue(const Call& call);

// failed_routes.cpp
[[nodiscard]] Response list_failed(const Call& call);
[[nodiscard]] Response group_failed(const Call& call);
[[nodiscard]] Response get_failed(const Call& call);
[[nodiscard]] Response delete_failed(const Call& call);
[[nodiscard]] Response retry_one_failed(const Call& call);
[[nodiscard]] Response retry_failed(const Call& call);
[[nodiscard]] Response remove_failed(const Call& call);

// failed_message_routes.cpp
[[nodiscard]] Response list_failure_transports(const Call& call);

// operator_routes.cpp
[[nodiscard]] Response get_session(const Call& call);
[[nodiscard]] Response list_workers(const Call& call);
[[nodiscard]] Response get_stats(const Call& call);
[[nodiscard]] Response get_history(const Call& call);
[[nodiscard]] Response get_metrics(const Call& call);
[[nodiscard]] Response get_health(const Call& call);
[[nodiscard]] Response get_openapi(const Call& call);

}  // namespace errand::http
