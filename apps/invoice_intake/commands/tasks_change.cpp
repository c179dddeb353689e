#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>

#include "errand/application.hpp"
#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/commands/not_found.hpp"
#include "invoice_intake/intake/ocr_retry.hpp"
#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/processing/lost_tasks.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

struct ChangeCommand {
  std::vector<std::string> ids;
  bool json = false;
  // retry
  bool reset = false;
  bool ocr = false;
  std::chrono::milliseconds delay{0};
};

struct Change {
  std::string id;
  std::string outcome;
};

/// One task in one transaction: what `change` makes of it, in words.
template <class Function>
ExitCode change_each(const ChangeCommand& command, Invocation& invocation, Function&& change) {
  std::vector<EmailTaskId> ids;
  for (const std::string& text : command.ids) ids.push_back(EmailTaskId::from_string(text));
  const std::unique_ptr<Database> database = invocation.database();
  const Profile user = invocation.user(*database);
  boost::json::array changes;
  for (const EmailTaskId& id : ids) {
    std::string outcome;
    database->write(user.user_id, [&](Session& session) {
      std::optional<EmailProcessingTask> task = find_task(session, id);
      if (!task) throw NotFound{id, user};
      outcome = change(session, *task);
    });
    if (command.json) {
      changes.push_back(boost::json::object{{"id", id.text()}, {"outcome", outcome}});
    } else {
      fmt::print(invocation.console.out, "{}  {}\n", id.text(), outcome);
    }
  }
  if (command.json) terminal::print_json(invocation.console, boost::json::serialize(changes));
  return ExitCode::done;
}

void refuse_deleted(const EmailProcessingTask& task) {
  if (!task.deleted_at) return;
  throw NotPossible{"task " + task.id.text() +
                    " is deleted; `errand-invoices tasks restore` brings it back"};
}

ExitCode retry(const ChangeCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = open_engine(invocation.dsn());
  return change_each(command, invocation, [&](Session& session, EmailProcessingTask& task) {
    refuse_deleted(task);
    if (command.ocr) {
      const std::optional<EmailProcessingTask> again = submit_ocr_retry(session, task);
      return again ? "read again what failed, as task " + again->id.text()
                   : std::string{"nothing failed: there is nothing to read again"};
    }
    if (is_lost(*engine, task)) fail_lost(task, session.now());
    if (command.reset && task.is_failed()) task.max_retries = task.retry_count + kMaxRetries;
    if (task.is_failed() && !task.can_retry()) {
      throw NotPossible{
          fmt::format("task {} cannot be retried: {}; --reset gives it {} retries", task.id.text(),
                      task.max_retries == task.retry_count && task.retry_count < kMaxRetries
                          ? "no attempt can mend what went wrong"
                          : "its retries are used up",
                      kMaxRetries)};
    }
    task.schedule_retry(session.now(), std::chrono::ceil<std::chrono::seconds>(command.delay));
    const NewTask request = make_request(task, command.delay);
    update_task(session, task);
    session.submit(request);
    return std::string{"retrying"};
  });
}

ExitCode cancel(const ChangeCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = open_engine(invocation.dsn());
  std::vector<TaskId> errand_tasks;
  const ExitCode code =
      change_each(command, invocation, [&](Session& session, EmailProcessingTask& task) {
        refuse_deleted(task);
        task.cancel(session.now());
        update_task(session, task);
        const std::optional<TaskId> id = task.task_id ? TaskId::parse(*task.task_id) : std::nullopt;
        if (id) errand_tasks.push_back(*id);
        return std::string{"cancelled"};
      });
  // The row decides; this only saves workers the way.
  engine->queue().cancel(errand_tasks);
  return code;
}

ExitCode remove(const ChangeCommand& command, Invocation& invocation) {
  return change_each(command, invocation, [&](Session& session, EmailProcessingTask& task) {
    if (task.deleted_at) return std::string{"was deleted before"};
    delete_task(session, task);
    return std::string{"deleted"};
  });
}

ExitCode restore(const ChangeCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = open_engine(invocation.dsn());
  return change_each(command, invocation, [&](Session& session, EmailProcessingTask& task) {
    if (!task.deleted_at) return std::string{"is not deleted"};
    restore_task(session, task);
    // A worker that came while it was deleted has dropped its Errand task.
    const bool is_waiting =
        task.status == EmailTaskStatus::pending || task.status == EmailTaskStatus::retrying;
    if (is_waiting && is_lost(*engine, task)) {
      const NewTask request = make_request(task);
      update_task(session, task);
      session.submit(request);
    }
    return std::string{"restored"};
  });
}

CLI::App& add_change(CLI::App& parent, Invocation& invocation, const char* name,
                     const char* purpose, const std::shared_ptr<ChangeCommand>& options,
                     ExitCode (*function)(const ChangeCommand&, Invocation&)) {
  CLI::App& command = terminal::add_command(parent, name, purpose);
  terminal::add_argument(command, "TASK", options->ids, "The tasks' ids").required();
  add_user_option(command, invocation);
  add_json(command, options->json);
  add_dsn(command, invocation);
  runs(command, invocation, options, function);
  return command;
}

}  // namespace

void add_tasks_change(CLI::App& parent, Invocation& invocation) {
  const auto retry_options = std::make_shared<ChangeCommand>();
  CLI::App& retry_command = add_change(parent, invocation, "retry",
                                       "Process failed tasks once more", retry_options, retry);
  terminal::add_duration(retry_command, "--delay", retry_options->delay,
                         "Not before this time is over (default: at once)");
  terminal::add_flag(retry_command, "--reset", retry_options->reset,
                     "Also those without retries left, which get three more");
  terminal::add_flag(retry_command, "--ocr", retry_options->ocr,
                     "Read only the attachments that failed, with more time for each, as a new "
                     "task of type ocr_retry");
  terminal::add_examples(retry_command, {
                                            "errand-invoices tasks retry --reset TASK",
                                            "errand-invoices tasks retry --ocr TASK",
                                        });
  add_change(parent, invocation, "cancel", "Give tasks up that have not ended",
             std::make_shared<ChangeCommand>(), cancel);
  add_change(parent, invocation, "delete", "Delete tasks; their invoices stay",
             std::make_shared<ChangeCommand>(), remove);
  add_change(parent, invocation, "restore", "Bring deleted tasks back",
             std::make_shared<ChangeCommand>(), restore);
}

}  // namespace errand::invoices
