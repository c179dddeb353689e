#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/ostream.h>
#include <stop_token>
#include <utility>

#include "errand/codec.hpp"
#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/invoice_rows.hpp"
#include "invoice_intake/store/profiles.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"
#include "terminal/stop_signals.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

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
  std::vector<double> server_milliseconds{};  ///< of PostgreSQL, for queries

  [[nodiscard]] double at(double share) const { return quantile(milliseconds, share); }
  [[nodiscard]] bool is_met() const { return at(0.99) < target_ms; }

  [[nodiscard]] std::optional<double> server() const {
    if (server_milliseconds.empty()) return std::nullopt;
    return quantile(server_milliseconds, 0.5);
  }

 private:
  static double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }
};

/// Somebody wants it to end.
class Interrupted : public Error {
 public:
  Interrupted() : Error{"stopped; what it had stored is removed again"} {}
};

template <class Function>
void measure(Figure& figure, Function&& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  figure.milliseconds.push_back(
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
}

/// Adds up what PostgreSQL says it took.
class ServerTime {
 public:
  [[nodiscard]] OnPlan listener() {
    return [this](const std::string& /*sql*/, const std::string& plan) {
      for (const std::string_view name : {"Planning Time: ", "Execution Time: "}) {
        const std::size_t at = plan.rfind(name);
        if (at != std::string::npos) sum_ += std::strtod(plan.c_str() + at + name.size(), nullptr);
      }
    };
  }
  [[nodiscard]] double take() { return std::exchange(sum_, 0); }

 private:
  double sum_ = 0;
};

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
                    {"body_text", "请查收附件中的发票"}}}}));
  return task;
}

/// What it makes, and takes away again.
class Bench {
 public:
  Bench(Database& database, Engine& engine, const std::stop_token& stop)
      : database_{database}, engine_{engine}, stop_{stop} {
    const std::string run = new_uuid();
    for (int i = 0; i < kUsers; ++i) {
      users_.push_back(
          add_profile(database_, fmt::format("bench-{}-{}@bench.invalid", i, run), ""));
    }
  }

  /// Users go with everything of theirs; Errand's tasks are the engine's.
  void remove() {
    for (const Profile& user : users_) {
      database_.write(user.user_id, [](Session& session) {
        session.run("DELETE FROM profiles WHERE auth_user_id = $1");
      });
    }
    users_.clear();
    for (const TaskId& id : errand_tasks_) engine_.storage().remove(id);
    errand_tasks_.clear();
  }

  void fill(std::int64_t tasks) {
    for (std::int64_t done = 0; done < tasks; done += kTasksATransaction) {
      throw_if_stopped();
      const UserId& user = user_of(done / kTasksATransaction);
      database_.write(user, [&](Session& session) {
        for (std::int64_t i = done; i < std::min(tasks, done + kTasksATransaction); ++i) {
          store(session, user, i);
        }
      });
    }
    // As in a table that has been there for a while; the server's own round may take minutes.
    database_.analyse();
  }

  /// `explained`: a database whose SELECTs tell `server` what they took there.
  std::vector<Figure> run_rounds(std::int64_t tasks, std::int64_t rounds, Database& explained,
                                 ServerTime& server) {
    Figure creating{.name = "create", .target_ms = 50};
    Figure status{.name = "status query", .target_ms = 30};
    Figure contains{.name = "JSON query", .target_ms = 100};
    Figure joined{.name = "joined query", .target_ms = 150};
    Figure batch{.name = "update of 100", .target_ms = 200};
    for (std::int64_t round = 0; round < rounds; ++round) {
      throw_if_stopped();
      const UserId& user = user_of(round);
      const auto query = [&](Figure& figure, const Database::Body& body) {
        measure(figure, [&] { database_.read(user, body); });
        if (round % kRoundsAnExplain != 0) return;
        explained.read(user, body);
        if (const double took = server.take(); took > 0) figure.server_milliseconds.push_back(took);
      };
      measure(creating, [&] { create(user, tasks + round); });
      query(status, [](Session& session) {
        static_cast<void>(list_tasks(session, {.statuses = {EmailTaskStatus::pending}}, 1, 20));
      });
      query(contains, [&](Session& session) {
        static_cast<void>(list_tasks(
            session,
            {.data_contains = fmt::format(R"({{"email_data":{{"from":"sender{}@example.com"}}}})",
                                          round % kSenders)},
            1, 20));
      });
      query(joined, [](Session& session) { static_cast<void>(overview(session, 100)); });
      update_many(batch, user);
    }
    return {creating, status, contains, joined, batch};
  }

 private:
  void throw_if_stopped() const {
    if (stop_.stop_requested()) throw Interrupted{};
  }

  [[nodiscard]] const UserId& user_of(std::int64_t number) const {
    return users_[static_cast<std::size_t>(number) % users_.size()].user_id;
  }

  static void store(Session& session, const UserId& user, std::int64_t number) {
    EmailProcessingTask task = sample(user, number);
    static_cast<void>(insert_task(session, task));
    if (number % 4 != 0) return;
    Invoice invoice{.user_id = user};
    invoice.email_task_id = task.id;
    invoice.invoice_number = fmt::format("{:020}", number);
    invoice.seller_name = "供应商公司";
    invoice.total = "1000.00";
    static_cast<void>(store_invoice(session, invoice));
  }

  /// A task, its row and its Errand task, as ingest stores them.
  void create(const UserId& user, std::int64_t number) {
    database_.write(user, [&](Session& session) {
      EmailProcessingTask task = sample(user, number);
      const NewTask request = make_request(task, std::chrono::hours{24 * 365});
      static_cast<void>(insert_task(session, task));
      session.submit(request);
      errand_tasks_.push_back(request.id);
    });
  }

  void update_many(Figure& figure, const UserId& user) {
    std::vector<EmailTaskId> ids;
    database_.read(user, [&](Session& session) {
      for (const EmailProcessingTask& task :
           list_tasks(session, {.statuses = {EmailTaskStatus::pending}}, 1, kBatch).items) {
        ids.push_back(task.id);
      }
    });
    const auto set = [&](EmailTaskStatus from, EmailTaskStatus to) {
      database_.write(user, [&](Session& session) {
        static_cast<void>(set_status_of_many(session, ids, from, to));
      });
    };
    measure(figure, [&] { set(EmailTaskStatus::pending, EmailTaskStatus::cancelled); });
    set(EmailTaskStatus::cancelled, EmailTaskStatus::pending);
  }

  static constexpr std::int64_t kRoundsAnExplain = 5;

  Database& database_;
  Engine& engine_;
  std::stop_token stop_;
  std::vector<Profile> users_;
  std::vector<TaskId> errand_tasks_;
};

double rounded(double milliseconds) { return std::round(milliseconds * 1000) / 1000; }

void show(const std::vector<Figure>& figures, bool as_json, Console& console) {
  if (as_json) {
    json::array list;
    for (const Figure& figure : figures) {
      list.push_back(
          json::object{{"name", figure.name},
                       {"target_ms", figure.target_ms},
                       {"median_ms", rounded(figure.at(0.5))},
                       {"p99_ms", rounded(figure.at(0.99))},
                       {"worst_ms", rounded(figure.at(1))},
                       {"server_ms", figure.server() ? json::value(rounded(*figure.server()))
                                                     : json::value(nullptr)},
                       {"met", figure.is_met()}});
    }
    terminal::print_json(console, encode(json::value(std::move(list))));
    return;
  }
  using Align = terminal::Column::Align;
  terminal::Table table{{{.title = "FIGURE"},
                         {.title = "MEDIAN MS", .align = Align::right},
                         {.title = "P99 MS", .align = Align::right},
                         {.title = "WORST MS", .align = Align::right},
                         {.title = "ON THE SERVER", .align = Align::right},
                         {.title = "TARGET MS", .align = Align::right}}};
  for (const Figure& figure : figures) {
    table.add_row({figure.name,
                   fmt::format("{:.1f}", figure.at(0.5)),
                   {fmt::format("{:.1f}", figure.at(0.99)),
                    figure.is_met() ? terminal::Colour::green : terminal::Colour::red},
                   fmt::format("{:.1f}", figure.at(1)),
                   figure.server() ? fmt::format("{:.1f}", *figure.server()) : "-",
                   fmt::format("< {:.0f}", figure.target_ms)});
  }
  table.print(console.out, console.out_screen);
}

ExitCode bench(const BenchCommand& command, Invocation& invocation) {
  const terminal::StopSignals signals;
  const std::unique_ptr<Database> database = invocation.database(Invocation::Missing::create);
  ServerTime server;
  const std::unique_ptr<Database> explained =
      open_database(invocation.dsn(), {.on_plan = server.listener()});
  const std::unique_ptr<Engine> engine = open_engine(invocation.dsn());
  Console& console = invocation.console;
  Bench run{*database, *engine, signals.token()};
  std::vector<Figure> figures;
  try {
    fmt::print(console.err, "storing {} tasks\n", terminal::format_count(command.tasks));
    run.fill(command.tasks);
    figures = run.run_rounds(command.tasks, command.rounds, *explained, server);
  } catch (const Interrupted& interrupted) {
    run.remove();
    fmt::print(console.err, "errand-invoices: {}\n", interrupted.what());
    return ExitCode::failed;
  } catch (...) {
    run.remove();
    throw;
  }
  run.remove();
  show(figures, command.json, console);
  return std::ranges::all_of(figures, &Figure::is_met) ? ExitCode::done : ExitCode::failed;
}

}  // namespace

void add_bench(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<BenchCommand>();
  CLI::App& command = terminal::add_command(
      parent, "bench",
      "Measure the database with many tasks in it, and remove them again; exit status 1 if "
      "the 99th percentile of a figure misses its target",
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
