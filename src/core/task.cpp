#include "errand/task.hpp"

#include <utility>

#include "errand/errors.hpp"

#include "core/document_rules.hpp"

namespace errand {
namespace {

[[noreturn]] void refuse(const TaskData& task, const std::string& rule) {
  throw ValidationException{"task " + task.id.to_string() + " (" +
                            std::string{to_string(task.status)} + "): " + rule};
}

TaskStatus status_after(const TaskData& task, TaskEvent event) {
  const std::optional<TaskStatus> status = next(task.status, event);
  if (!status) {
    refuse(task, "a task that is " + std::string{to_string(task.status)} + " cannot " +
                     std::string{to_string(event)});
  }
  return *status;
}

enum class Presence { required, forbidden, allowed };

void check_presence(const TaskData& task, const char* name, bool present, Presence rule) {
  if (present && rule == Presence::forbidden) {
    refuse(task, std::string{name} + " must be absent in this status");
  }
  if (!present && rule == Presence::required) {
    refuse(task, std::string{name} + " is missing, and this status requires it");
  }
}

struct PresenceRules {
  Presence result;
  Presence error;
  Presence started_at;
  Presence completed_at;
};

PresenceRules rules_of(TaskStatus status) {
  using enum Presence;
  switch (status) {
    case TaskStatus::pending:
      return {forbidden, forbidden, forbidden, forbidden};
    case TaskStatus::running:
      return {allowed, allowed, required, forbidden};
    case TaskStatus::retrying:
      return {forbidden, forbidden, required, forbidden};
    case TaskStatus::completed:
      return {required, forbidden, required, required};
    case TaskStatus::failed:
      return {forbidden, required, required, required};
    case TaskStatus::cancelled:
      return {forbidden, forbidden, allowed, required};
  }
  throw ValidationException{"status: " + std::to_string(static_cast<int>(status)) +
                            " is none of pending, running, retrying, completed, failed, cancelled"};
}

void check_order(const TaskData& task, const char* later_name, std::optional<Timestamp> later,
                 const char* earlier_name, Timestamp earlier) {
  if (later && *later < earlier) {
    refuse(task, std::string{later_name} + " " + to_iso8601(*later) + " is before " + earlier_name +
                     " " + to_iso8601(earlier));
  }
}

}  // namespace

TaskData TaskData::pending(TaskId id, std::optional<std::string> payload, Timestamp submitted_at) {
  return TaskData{id,           TaskStatus::pending, std::move(payload), std::nullopt, std::nullopt,
                  submitted_at, std::nullopt,        std::nullopt,       std::nullopt};
}

void TaskData::start(Timestamp now) {
  status = status_after(*this, TaskEvent::claim);
  started_at = now;
}

void TaskData::complete(std::string result_json, Timestamp now) {
  status = status_after(*this, TaskEvent::complete);
  result = std::move(result_json);
  error.reset();
  completed_at = now;
}

void TaskData::fail(std::string error_json, Timestamp now) {
  status = status_after(*this, TaskEvent::fail);
  result.reset();
  error = std::move(error_json);
  completed_at = now;
}

void TaskData::retry() {
  status = status_after(*this, TaskEvent::retry);
  result.reset();
  error.reset();
}

void TaskData::cancel(Timestamp now) {
  status = status_after(*this, TaskEvent::cancel);
  result.reset();
  error.reset();
  completed_at = now;
}

void validate(const TaskData& task) {
  const PresenceRules rules = rules_of(task.status);
  check_presence(task, "result", task.result.has_value(), rules.result);
  check_presence(task, "error", task.error.has_value(), rules.error);
  check_presence(task, "started_at", task.started_at.has_value(), rules.started_at);
  check_presence(task, "completed_at", task.completed_at.has_value(), rules.completed_at);

  check_order(task, "started_at", task.started_at, "submitted_at", task.submitted_at);
  check_order(task, "completed_at", task.completed_at, "submitted_at", task.submitted_at);
  if (task.started_at) {
    check_order(task, "completed_at", task.completed_at, "started_at", *task.started_at);
  }

  if (task.payload) detail::check_document("payload", *task.payload, kMaxDocumentBytes);
  if (task.result) detail::check_document("result", *task.result, kMaxDocumentBytes);
  if (task.error) detail::check_document("error", *task.error, kMaxDocumentBytes);
}

}  // namespace errand
