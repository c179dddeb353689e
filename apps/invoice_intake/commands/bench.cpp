#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <fmt/ostream.h>

#include "errand/codec.hpp"

#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "cli/wording.hpp"
#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/invoice_rows.hpp"
#include "invoice_intake/store/profiles.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

constexpr int kUsers = 10;
constexpr int kSenders = 1000;
constexpr int kTasksATransaction = 1000;
constexpr std::size_t kBatch = 100;

struct BenchCommand {
  std::int64_t tasks = 100'000;
  std::int64_t rounds = 100;
  bool json = false;
};

struct Figure {
  const char* name;
  double target_ms;
  std::vector<double> milliseconds{};

  [[nodiscard]] double at(double share) const {
    std::vector<double> sorted = milliseconds;
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

template <class Function>
void measure(Figure& figure, Function&& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  figure.milliseconds.push_back(
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
}

EmailProcessingTask sample(const UserId& user, std::int64_t number) {
  static constexpr std::array kStatuses{EmailTaskStatus::completed, EmailTaskStatus::completed,
                                        EmailTaskStatus::completed, EmailTaskStatus::pending,
                                        EmailTaskStatus::failed};
  EmailProcessingTask task{.user_id = user};
  task.status = kStatuses[static_cast<std::size_t>(number) % kStatuses.size()];
  task.email_message_id = fmt::format("{}@bench.invalid", new_uuid());
  task.email_from = fmt::format("sender{}@example.com", number % kSenders);
  task.email_subject = fmt::format("发票-订单{}", number);
  task.attachments_count = 1;
  task.task_data = encode(json::value(json::object{
      {"email_data",
       json::object{{"message_id", *task.email_message_id},
                    {"from", *task.email_from},
                    {"to", json::array{"user+invoice@example.com"}},
                    {"subject", *task.email_subject},
                    {"attachments", json::array{json::object{{"filename", "invoice.pdf"},
                                                             {"content_type", "application/pdf"},
                                                             {"size", 102400}}}},
                    {"body_text", "请查收附件中的发票"}}},
      {"processing_options", json::object{{"auto_extract", true}}}}));
  return task;
}

void fill(Database& database, const std::vector<Profile>& users, std::int64_t tasks) {
  for (std::int64_t done = 0; done < tasks; done += kTasksATransaction) {
    const UserId& user =
        users[static_cast<std::size_t>(done / kTasksATransaction) % users.size()].user_id;
    database.write(user, [&](Session& session) {
      for (std::int64_t i = done; i < std::min(tasks, done + kTasksATransaction); ++i) {
        EmailProcessingTask task = sample(user, i);
        static_cast<void>(insert_task(session, task));
        if (i % 4 != 0) continue;
        Invoice invoice{.user_id = user};
        invoice.email_task_id = task.id;
        invoice.invoice_number = fmt::format("{:020}", i);
        invoice.seller_name = "供应商公司";
        invoice.total = "1000.00";
        static_cast<void>(store_invoice(session, invoice));
      }
    });
  }
}

/// A task, its row and its Errand task, as ingest stores them.
void create(Database& database, const UserId& user, std::int64_t number) {
  database.write(user, [&](Session& session) {
    EmailProcessingTask task = sample(user, number);
    const NewTask request = make_request(task, std::chrono::hours{24 * 365});
    static_cast<void>(insert_task(session, task));
    session.submit(request);
  });
}

std::vector<Figure> run_rounds(Database& database, const std::vector<Profile>& users,
                               std::int64_t tasks, std::int64_t rounds) {
  Figure creating{.name = "create", .target_ms = 50};
  Figure status{.name = "status query", .target_ms = 30};
  Figure contains{.name = "JSON query", .target_ms = 100};
  Figure joined{.name = "joined query", .target_ms = 150};
  Figure batch{.name = "update of 100", .target_ms = 200};
  for (std::int64_t round = 0; round < rounds; ++round) {
    const UserId& user = users[static_cast<std::size_t>(round) % users.size()].user_id;
    measure(creating, [&] { create(database, user, tasks + round); });
    measure(status, [&] {
      database.read(user, [](Session& session) {
        static_cast<void>(list_tasks(session, {.statuses = {EmailTaskStatus::pending}}, 1, 20));
      });
    });
    measure(contains, [&] {
      database.read(user, [&](Session& session) {
        static_cast<void>(list_tasks(
            session,
            {.data_contains = fmt::format(R"({{"email_data":{{"from":"sender{}@example.com"}}}})",
                                          round % kSenders)},
            1, 20));
      });
    });
    measure(joined, [&] {
      database.read(user, [](Session& session) { static_cast<void>(overview(session, 100)); });
    });
    std::vector<EmailTaskId> ids;
    database.read(user, [&](Session& session) {
      for (const EmailProcessingTask& task :
           list_tasks(session, {.statuses = {EmailTaskStatus::pending}}, 1, kBatch).items) {
        ids.push_back(task.id);
      }
    });
    const auto set = [&](EmailTaskStatus from, EmailTaskStatus to) {
      database.write(user, [&](Session& session) {
        static_cast<void>(set_status_of_many(session, ids, from, to));
      });
    };
    measure(batch, [&] { set(EmailTaskStatus::pending, EmailTaskStatus::cancelled); });
    set(EmailTaskStatus::cancelled, EmailTaskStatus::pending);
  }
  return {creating, status, contains, joined, batch};
}

void show(const std::vector<Figure>& figures, bool as_json, Console& console) {
  if (as_json) {
    json::array list;
    for (const Figure& figure : figures) {
      list.push_back(json::object{{"name", figure.name},
                                  {"target_ms", figure.target_ms},
                                  {"median_ms", figure.at(0.5)},
                                  {"p99_ms", figure.at(0.99)},
                                  {"worst_ms", figure.at(1)}});
    }
    cli::print_json(console, encode(json::value(std::move(list))));
    return;
  }
  using Align = cli::Column::Align;
  cli::Table table{{{.title = "FIGURE"},
                    {.title = "MEDIAN MS", .align = Align::right},
                    {.title = "P99 MS", .align = Align::right},
                    {.title = "WORST MS", .align = Align::right},
                    {.title = "TARGET MS", .align = Align::right}}};
  for (const Figure& figure : figures) {
    table.add_row({figure.name,
                   fmt::format("{:.1f}", figure.at(0.5)),
                   {fmt::format("{:.1f}", figure.at(0.99)),
                    figure.at(0.99) < figure.target_ms ? cli::Colour::green : cli::Colour::red},
                   fmt::format("{:.1f}", figure.at(1)),
                   fmt::format("< {:.0f}", figure.target_ms)});
  }
  table.print(console.out, console.out_screen);
}

ExitCode bench(const BenchCommand& command, Invocation& invocation) {
  const std::unique_ptr<Database> database = invocation.database();
  Console& console = invocation.console;
  std::vector<Profile> users;
  const std::string run = new_uuid();
  for (int i = 0; i < kUsers; ++i) {
    users.push_back(add_profile(*database, fmt::format("bench-{}-{}@bench.invalid", i, run), ""));
  }
  const auto remove_users = [&] {
    for (const Profile& user : users) {
      database->write(user.user_id, [](Session& session) {
        session.run("DELETE FROM profiles WHERE auth_user_id = $1");
      });
    }
  };
  try {
    fmt::print(console.err, "storing {} tasks\n", cli::format_count(command.tasks));
    fill(*database, users, command.tasks);
    show(run_rounds(*database, users, command.tasks, command.rounds), command.json, console);
  } catch (...) {
    remove_users();
    throw;
  }
  remove_users();
  return ExitCode::done;
}

}  // namespace

void add_bench(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<BenchCommand>();
  CLI::App& command = terminal::add_command(
      parent, "bench", "Measure the database with many tasks in it, and remove them again",
      kStorageCommands);
  terminal::add_number(command, "--tasks", options->tasks, 1000, 10'000'000,
                       "How many (default: 100000)");
  terminal::add_number(command, "--rounds", options->rounds, 10, 10'000,
                       "How often each is measured (default: 100)");
  add_json(command, options->json);
  add_dsn(command, invocation);
  runs(command, invocation, options, bench);
}

}  // namespace errand::invoices
