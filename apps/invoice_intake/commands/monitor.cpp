#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <fmt/ostream.h>
#include <map>

#include "errand/codec.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/processing/lost_tasks.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

struct MonitorCommand {
  std::chrono::milliseconds since{};
  bool json = false;
};

/// Whoever operates the program looks at all users, one after another: no role sees them at once.
void for_each_user(Invocation& invocation, Database& database,
                   const std::function<void(const Profile&, Session&)>& look) {
  std::vector<Profile> users;
  if (std::optional<Profile> chosen = invocation.chosen_user(database)) {
    users.push_back(std::move(*chosen));
  } else {
    users = database.profiles();
  }
  for (const Profile& user : users) {
    database.read(user.user_id, [&](Session& session) { look(user, session); });
  }
}

struct Troubled {
  std::string user;
  EmailProcessingTask task;
};

void show_troubled(std::vector<Troubled> tasks, bool as_json, Console& console, Timestamp now,
                   const char* none) {
  std::ranges::stable_sort(tasks, [](const Troubled& a, const Troubled& b) {
    return a.task.created_at > b.task.created_at;
  });
  if (as_json) {
    json::array list;
    for (const auto& [user, task] : tasks) {
      list.push_back(json::object{{"id", task.id.text()},
                                  {"user_id", task.user_id.text()},
                                  {"status", to_string(task.status)},
                                  {"email_subject", task.email_subject.value_or("")},
                                  {"error_message", task.error_message.value_or("")},
                                  {"retry_count", task.retry_count},
                                  {"created_at", to_iso8601(task.created_at)}});
    }
    terminal::print_json(console, encode(json::value(std::move(list))));
    return;
  }
  if (tasks.empty()) {
    fmt::print(console.out, "{}\n", none);
    return;
  }
  using Align = terminal::Column::Align;
  terminal::Table table{{{.title = "TASK"},
                         {.title = "USER", .may_shrink = true},
                         {.title = "STATUS"},
                         {.title = "SUBJECT", .may_shrink = true},
                         {.title = "RETRIES", .align = Align::right},
                         {.title = "AGE", .align = Align::right},
                         {.title = "ERROR", .may_shrink = true}}};
  for (const auto& [user, task] : tasks) {
    table.add_row({task.id.text(), user, std::string{to_string(task.status)},
                   task.email_subject.value_or(""), std::to_string(task.retry_count),
                   terminal::format_short_age(task.created_at, now),
                   task.error_message.value_or("")});
  }
  table.print(console.out, console.out_screen);
}

ExitCode failed(const MonitorCommand& command, Invocation& invocation) {
  const std::unique_ptr<Database> database = invocation.database();
  std::vector<Troubled> tasks;
  Timestamp now = system_clock().now();
  for_each_user(invocation, *database, [&](const Profile& user, Session& session) {
    now = session.now();
    for (EmailProcessingTask& task : tasks_needing_attention(session, now - command.since)) {
      tasks.push_back({user.email, std::move(task)});
    }
  });
  const bool trouble = !tasks.empty();
  show_troubled(std::move(tasks), command.json, invocation.console, now, "No task needs a person");
  return trouble ? ExitCode::failed : ExitCode::done;
}

ExitCode stuck(const MonitorCommand& command, Invocation& invocation) {
  constexpr std::int64_t kPageSize = 500;
  const std::unique_ptr<Database> database = invocation.database();
  const std::unique_ptr<Engine> engine = open_engine(invocation.dsn());
  std::vector<Troubled> tasks;
  Timestamp now = system_clock().now();
  for_each_user(invocation, *database, [&](const Profile& user, Session& session) {
    now = session.now();
    const EmailTaskFilter open{.statuses = {EmailTaskStatus::pending, EmailTaskStatus::processing,
                                            EmailTaskStatus::retrying}};
    for (std::int64_t page = 1;; ++page) {
      EmailTaskPage found = list_tasks(session, open, page, kPageSize);
      for (EmailProcessingTask& task : found.items) {
        if (is_lost(*engine, task)) tasks.push_back({user.email, std::move(task)});
      }
      if (page >= found.total_pages()) break;
    }
  });
  const bool trouble = !tasks.empty();
  show_troubled(std::move(tasks), command.json, invocation.console, now,
                "Every open task has an Errand task that will come to it");
  return trouble ? ExitCode::failed : ExitCode::done;
}

/// The same day of another user.
void add_to(DayPerformance& sum, const DayPerformance& day) {
  const double seconds = sum.avg_time.value_or(0) * static_cast<double>(sum.completed) +
                         day.avg_time.value_or(0) * static_cast<double>(day.completed);
  sum.date = day.date;
  sum.total_tasks += day.total_tasks;
  sum.completed += day.completed;
  sum.failed += day.failed;
  if (sum.completed > 0) sum.avg_time = seconds / static_cast<double>(sum.completed);
  if (day.max_time) sum.max_time = std::max(sum.max_time.value_or(0), *day.max_time);
}

json::value optional_number(const std::optional<double>& number) {
  if (!number) return nullptr;
  // To the millisecond: more is not known.
  return std::round(*number * 1000) / 1000;
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.3f}", *seconds) : "-";
}

ExitCode show_performance(const MonitorCommand& command, Invocation& invocation) {
  const std::unique_ptr<Database> database = invocation.database();
  std::map<std::string, DayPerformance, std::greater<>> days;
  for_each_user(invocation, *database, [&](const Profile&, Session& session) {
    for (const DayPerformance& day : performance(session, session.now() - command.since)) {
      add_to(days[day.date], day);
    }
  });
  Console& console = invocation.console;
  if (command.json) {
    json::array list;
    for (const auto& [date, day] : days) {
      list.push_back(json::object{{"date", date},
                                  {"total_tasks", day.total_tasks},
                                  {"completed", day.completed},
                                  {"failed", day.failed},
                                  {"avg_time", optional_number(day.avg_time)},
                                  {"max_time", optional_number(day.max_time)}});
    }
    terminal::print_json(console, encode(json::value(std::move(list))));
    return ExitCode::done;
  }
  if (days.empty()) {
    fmt::print(console.out, "There were no tasks\n");
    return ExitCode::done;
  }
  using Align = terminal::Column::Align;
  terminal::Table table{{{.title = "DATE"},
                         {.title = "TASKS", .align = Align::right},
                         {.title = "COMPLETED", .align = Align::right},
                         {.title = "FAILED", .align = Align::right},
                         {.title = "AVERAGE S", .align = Align::right},
                         {.title = "LONGEST S", .align = Align::right}}};
  for (const auto& [date, day] : days) {
    table.add_row({date, terminal::format_count(day.total_tasks),
                   terminal::format_count(day.completed), terminal::format_count(day.failed),
                   seconds_text(day.avg_time), seconds_text(day.max_time)});
  }
  table.print(console.out, console.out_screen);
  return ExitCode::done;
}

ExitCode recent(const MonitorCommand& command, Invocation& invocation) {
  constexpr std::int64_t kTasks = 20;
  const std::unique_ptr<Database> database = invocation.database();
  std::vector<TaskOverview> tasks;
  Timestamp now = system_clock().now();
  for_each_user(invocation, *database, [&](const Profile&, Session& session) {
    now = session.now();
    for (TaskOverview& task : overview(session, kTasks)) tasks.push_back(std::move(task));
  });
  std::ranges::stable_sort(tasks, std::greater{}, &TaskOverview::created_at);
  if (command.json) {
    json::array list;
    for (const TaskOverview& task : tasks) {
      list.push_back(json::object{
          {"id", task.id.text()},
          {"status", to_string(task.status)},
          {"email_subject", task.email_subject},
          {"user_email", task.user_email},
          {"invoice_number", task.invoice_number ? json::value(json::string{*task.invoice_number})
                                                 : json::value(nullptr)},
          {"created_at", to_iso8601(task.created_at)}});
    }
    terminal::print_json(invocation.console, encode(json::value(std::move(list))));
    return ExitCode::done;
  }
  using Align = terminal::Column::Align;
  terminal::Table table{{{.title = "AGE", .align = Align::right},
                         {.title = "USER", .may_shrink = true},
                         {.title = "STATUS"},
                         {.title = "SUBJECT", .may_shrink = true},
                         {.title = "INVOICE"},
                         {.title = "SELLER", .may_shrink = true},
                         {.title = "TOTAL", .align = Align::right}}};
  for (const TaskOverview& task : tasks) {
    table.add_row({terminal::format_short_age(task.created_at, now), task.user_email,
                   std::string{to_string(task.status)}, task.email_subject,
                   task.invoice_number.value_or("-"), task.seller_name.value_or(""),
                   task.total.value_or("")});
  }
  if (table.empty()) {
    fmt::print(invocation.console.out, "There were no tasks\n");
  } else {
    table.print(invocation.console.out, invocation.console.out_screen);
  }
  return ExitCode::done;
}

void add_look(CLI::App& parent, Invocation& invocation, const char* name, const char* purpose,
              std::chrono::milliseconds since, const char* since_help,
              ExitCode (*function)(const MonitorCommand&, Invocation&)) {
  const auto options = std::make_shared<MonitorCommand>();
  options->since = since;
  CLI::App& command = terminal::add_command(parent, name, purpose);
  if (since_help != nullptr) terminal::add_duration(command, "--since", options->since, since_help);
  terminal::add_text(command, "-u,--user", invocation.user_option, "USER",
                     "Only this one's (default: everybody's)")
      .not_empty();
  add_json(command, options->json);
  add_dsn(command, invocation);
  runs(command, invocation, options, function);
}

}  // namespace

void add_monitor(CLI::App& parent, Invocation& invocation) {
  using namespace std::chrono_literals;
  CLI::App& monitor = terminal::add_command(
      parent, "monitor", "What needs attention, and how fast it goes", kLookCommands);
  terminal::require_command(monitor);
  add_look(monitor, invocation, "failed",
           "Failed tasks that no retry will mend; exit status 1 if there are any", 24h,
           "Created within this time (default: 24h)", failed);
  add_look(monitor, invocation, "performance", "Tasks and processing time, by day", 7 * 24h,
           "Created within this time (default: 7d)", show_performance);
  add_look(monitor, invocation, "recent", "The newest tasks and what came of them", 0ms, nullptr,
           recent);
  add_look(monitor, invocation, "stuck",
           "Open tasks whose Errand task has ended or is gone (`tasks retry` mends them); exit "
           "status 1 if there are any",
           0ms, nullptr, stuck);
}

}  // namespace errand::invoices
