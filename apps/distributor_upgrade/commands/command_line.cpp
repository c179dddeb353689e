#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/ostream.h>
#include <functional>

#include "errand/errors.hpp"

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/help_layout.hpp"
#include "distributor_upgrade/commands/program.hpp"

/// All that the program takes from the command line. In one file, because it takes the compiler
/// longer to read CLI11 than all the commands.
namespace errand::distributors {
namespace {

constexpr const char* kFooter =
    "Exit status:\n"
    "  0  done                              5  no such distributor, level or withdrawal\n"
    "  1  not possible, criteria broken     6  storage unreachable\n"
    "  2  usage, data, DSN                 70  a mistake in this program\n"
    "  3  stopped before the end           74  standard output failed\n"
    "\n"
    "Examples:\n"
    "  errand-distributors setup && errand-distributors seed\n"
    "  errand-distributors withdraw complete 2   # and its check, in one transaction\n"
    "  errand-distributors worker --drain        # handle what is due, then end\n"
    "  errand-distributors history\n"
    "\n"
    "errand-distributors COMMAND --help tells more about a command.";

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

std::int64_t parse_number(const std::string& name, const std::string& text, std::int64_t lowest,
                          std::int64_t highest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= lowest &&
      value <= highest) {
    return value;
  }
  throw ConfigurationException{
      highest == kAny
          ? fmt::format("{}: '{}' is not a whole number from {} on", name, text, lowest)
          : fmt::format("{}: '{}' is not a whole number of {} to {}", name, text, lowest, highest)};
}

std::chrono::milliseconds parse_time(const std::string& name, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  constexpr std::int64_t kMost = 1'000'000;
  if (error == std::errc{} && value >= 0 && value <= kMost) {
    if (unit == "ms") return std::chrono::milliseconds{value};
    if (unit.empty() || unit == "s") return std::chrono::seconds{value};
    if (unit == "m") return std::chrono::minutes{value};
    if (unit == "h") return std::chrono::hours{value};
  }
  throw ConfigurationException{fmt::format(
      "{}: '{}' is not a time; write 500ms, 5s, 2m, 1h, or a number of seconds", name, text)};
}

class CommandLine {
 public:
  CommandLine(CLI::App& root, Invocation& invocation) : root_{root}, invocation_{invocation} {
    lay_out_help(root, invocation.out_screen);
    root.require_subcommand(1);
    root.fallthrough();  // --dsn may stand behind the command, too
    root.footer(kFooter);
    root.set_version_flag("--version", "errand-distributors " ERRAND_DISTRIBUTORS_VERSION,
                          "Print the version");
    const auto keep_dsn = [&invocation](const std::string& text) {
      if (text.empty()) {
        throw ConfigurationException{
            "--dsn: it is empty; write sqlite:path.db, or leave the option out"};
      }
      invocation.dsn_option = text;
    };
    root.add_option_function<std::string>(
            "--dsn", keep_dsn,
            "Where everything is: sqlite:FILE or postgresql://…; without it $ERRAND_DSN, else "
            "$MESSENGER_TRANSPORT_DSN, else sqlite:errand.db")
        ->type_name("DSN");
    root.add_option("--message-class", invocation.message_class_option,
                    "What Symfony calls the message; without it "
                    "$ERRAND_DISTRIBUTORS_MESSAGE_CLASS, else "
                    "App\\Message\\DistributorUpgradeCheckMessage")
        ->type_name("CLASS");
    add_storage();
    add_levels();
    add_distributors();
    add_withdrawals();
    add_checks();
    add_worker();
    add_simulate();
  }

  std::function<ExitCode()> command;

 private:
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& purpose,
                const std::string& example = "") {
    CLI::App& added = *parent.add_subcommand(name, purpose);
    if (!example.empty()) added.footer("Example:\n  errand-distributors " + example);
    return added;
  }

  CLI::App& add_group(const std::string& name, const std::string& purpose) {
    CLI::App& added = add(root_, name, purpose);
    added.require_subcommand(1);
    return added;
  }

  template <class Options>
  void runs(CLI::App& app, std::shared_ptr<Options> options,
            ExitCode (*function)(const Options&, Invocation&)) {
    app.callback([this, options = std::move(options), function] {
      command = [this, options, function] { return function(*options, invocation_); };
    });
  }
  void runs(CLI::App& app, std::function<ExitCode()> function) {
    app.callback([this, function = std::move(function)] { command = function; });
  }

  void add_json(CLI::App& app) {
    app.add_flag("--json", invocation_.json, "Print JSON, for programs");
  }

  template <class Number>
  static CLI::Option* add_number(CLI::App& app, const std::string& name, Number& value,
                                 std::int64_t lowest, std::int64_t highest,
                                 const std::string& description) {
    CLI::Option* option = app.add_option_function<std::string>(
        name,
        [&value, name, lowest, highest](const std::string& text) {
          value = parse_number(name, text, lowest, highest);
        },
        description);
    return option->type_name(option->get_positional() ? "" : "N");
  }

  static CLI::Option* add_time(CLI::App& app, const std::string& name,
                               std::chrono::milliseconds& value, const std::string& description) {
    return app
        .add_option_function<std::string>(
            name, [&value, name](const std::string& text) { value = parse_time(name, text); },
            description)
        ->type_name("TIME");
  }

  void add_storage() {
    CLI::App& setup = add(root_, "setup", "Make the tables that are missing",
                          "--dsn postgresql://app@db/shop setup");
    auto setup_options = std::make_shared<SetupOptions>();
    setup
        .add_option("--skip-levels", setup_options->skip_levels,
                    "Whether one may rise past a level whose criteria do not hold; kept in the "
                    "database: yes, no")
        ->type_name("WORD")
        ->check([](const std::string& text) {
          return text == "yes" || text == "no" ? std::string{}
                                               : "'" + text + "' is neither yes nor no";
        });
    add_json(setup);
    runs(setup, setup_options, run_setup);

    CLI::App& seed = add(root_, "seed", "Add sample data that people can read, or a crowd",
                         "seed --count 100000");
    auto seed_options = std::make_shared<SeedOptions>();
    add_number(seed, "--count", seed_options->count, 1, 10'000'000,
               "Add this many distributors instead");
    add_json(seed);
    runs(seed, seed_options, run_seed);
  }

  void add_levels() {
    CLI::App& level = add_group("level", "Levels, and when they are reached");
    CLI::App& added = add(level, "add", "Add a level; prints its id",
                          "level add 3 Gold --when 'withdrawn_total >= 5000 and team_size >= 10'");
    auto options = std::make_shared<LevelAddOptions>();
    add_number(added, "RANK", options->rank, 0, 1'000'000, "Higher is better")->required();
    added.add_option("NAME", options->name, "How people call it")->type_name("")->required();
    added
        .add_option_function<std::string>(
            "--when", [options](const std::string& text) { options->criteria = text; },
            "The criteria: figures and numbers, + - *, >= > <= < = !=, and, or, not, parentheses; "
            "see level figures. Without them no check leads to it")
        ->type_name("CRITERIA");
    add_json(added);
    runs(added, options, run_level_add);
    add_level_changes(level);
    CLI::App& list = add(level, "list", "All levels, the lowest first");
    add_json(list);
    runs(list, [this] { return run_level_list(invocation_); });
    CLI::App& figures = add(level, "figures", "What criteria may ask about a distributor");
    add_json(figures);
    runs(figures, [this] { return run_level_figures(invocation_); });
  }

  void add_level_changes(CLI::App& level) {
    CLI::App& set = add(level, "set", "Change when a level is reached; nobody is taken down by it",
                        "level set Gold --when 'withdrawn_total >= 8000'");
    auto options = std::make_shared<LevelSetOptions>();
    set.add_option("NAME", options->name, "The level")->type_name("")->required();
    set.add_option_function<std::string>(
           "--when", [options](const std::string& text) { options->criteria = text; },
           "The new criteria, as in level add")
        ->type_name("CRITERIA");
    set.add_flag("--by-hand", options->by_hand, "No check leads to it any more");
    add_json(set);
    runs(set, options, run_level_set);
    CLI::App& remove = add(level, "remove", "Remove a level that nobody has or ever had");
    auto name = std::make_shared<std::string>();
    remove.add_option("NAME", *name, "The level")->type_name("")->required();
    add_json(remove);
    runs(remove, [this, name] { return run_level_remove(*name, invocation_); });
  }

  void add_distributors() {
    CLI::App& group = add_group("distributor", "Distributors and their teams");
    CLI::App& added = add(group, "add", "Add a distributor at the lowest level; prints the id",
                          "distributor add 'Li Na' --sponsor 1");
    auto add_options = std::make_shared<DistributorAddOptions>();
    added.add_option("NAME", add_options->name, "The name")->type_name("")->required();
    add_number(added, "--sponsor", add_options->sponsor, 1, kAny, "Whose team they join");
    add_json(added);
    runs(added, add_options, run_distributor_add);

    CLI::App& show = add(group, "show", "One distributor, with all figures");
    auto id = std::make_shared<std::int64_t>();
    add_number(show, "ID", *id, 1, kAny, "The distributor")->required();
    add_json(show);
    runs(show, [this, id] { return run_distributor_show(*id, invocation_); });

    CLI::App& list = add(group, "list", "Distributors by id");
    auto list_options = std::make_shared<DistributorListOptions>();
    add_number(list, "--after", list_options->after, 0, kAny, "Only those with higher ids");
    add_number(list, "--limit", list_options->limit, 1, 1'000'000, "At most this many (50)");
    add_json(list);
    runs(list, list_options, run_distributor_list);

    CLI::App& set_level =
        add(group, "set-level", "Give a level by hand, up or down; the history says so",
            "distributor set-level 1 Gold");
    auto set_level_options = std::make_shared<DistributorSetLevelOptions>();
    add_number(set_level, "ID", set_level_options->id, 1, kAny, "The distributor")->required();
    set_level.add_option("LEVEL", set_level_options->level, "Its name, see level list")
        ->type_name("")
        ->required();
    add_json(set_level);
    runs(set_level, set_level_options, run_distributor_set_level);

    CLI::App& tree = add(group, "tree", "A distributor's team, or everybody");
    auto tree_options = std::make_shared<DistributorTreeOptions>();
    add_number(tree, "ID", tree_options->id, 1, kAny, "Whose team");
    add_number(tree, "--depth", tree_options->depth, 0, 1000, "How far down (5)");
    add_number(tree, "--limit", tree_options->limit, 1, 1'000'000, "At most this many (200)");
    add_json(tree);
    runs(tree, tree_options, run_distributor_tree);
  }

  void add_withdrawals() {
    CLI::App& group = add_group("withdraw", "Withdrawals");
    CLI::App& create = add(group, "create", "Record a pending withdrawal; prints its id",
                           "withdraw create 1 1250.50");
    auto options = std::make_shared<WithdrawCreateOptions>();
    add_number(create, "DISTRIBUTOR", options->distributor, 1, kAny, "Whose")->required();
    create.add_option("AMOUNT", options->amount, "Such as 1250 or 1250.50")
        ->type_name("")
        ->required();
    add_json(create);
    runs(create, options, run_withdraw_create);
    add_move(group, "process", WithdrawalStatus::processing, "It is being paid out");
    add_move(group, "complete", WithdrawalStatus::completed,
             "It is paid out: its distributor is to be checked, in the same transaction");
    add_move(group, "fail", WithdrawalStatus::failed, "It is not paid out");
    CLI::App& list = add(group, "list", "Withdrawals, the newest first");
    runs(list, list_options(list), run_withdraw_list);

    CLI::App& history = add(root_, "history", "Upgrades, the newest first");
    runs(history, list_options(history), run_history);
  }

  void add_move(CLI::App& group, const std::string& name, WithdrawalStatus status,
                const std::string& purpose) {
    CLI::App& move = add(group, name, purpose);
    auto id = std::make_shared<std::int64_t>();
    add_number(move, "ID", *id, 1, kAny, "The withdrawal")->required();
    add_json(move);
    runs(move, [this, id, status] { return run_withdraw_move(*id, status, invocation_); });
  }

  std::shared_ptr<ListOptions> list_options(CLI::App& list) {
    auto options = std::make_shared<ListOptions>();
    add_number(list, "--distributor", options->distributor, 1, kAny, "Only this one's");
    add_number(list, "--limit", options->limit, 1, 1'000'000, "At most this many (50)");
    add_json(list);
    return options;
  }

  void add_checks() {
    CLI::App& check =
        add(root_, "check", "Check now whether a higher level is reached, say why, and upgrade",
            "check 1 --dry-run");
    auto options = std::make_shared<CheckOptions>();
    CLI::Option* id = add_number(check, "ID", options->id, 1, kAny, "The distributor");
    check.add_flag("--all", options->all, "Everybody")->excludes(id);
    check.add_flag("--dry-run", options->dry_run, "Only look");
    add_number(check, "--batch", options->batch, 1, 10'000,
               "With --all: how many at a time (1000)");
    add_json(check);
    runs(check, options, run_check);
  }

  void add_worker() {
    CLI::App& worker =
        add(root_, "worker", "Handle checks until stopped", "worker --concurrency 8");
    auto options = std::make_shared<WorkerCommandOptions>();
    add_number(worker, "--concurrency", options->concurrency, 1, 1000,
               "Checks at once; without it one per processor");
    add_number(worker, "--limit", options->limit, 1, kAny, "Stop after this many");
    worker.add_flag("--drain", options->drain,
                    "Stop when none is due. Ends with 0, too, where checks went to "
                    "failed_messages: see what it tells");
    worker.add_flag("--quiet", options->quiet, "Log warnings and errors only");
    add_json(worker);
    runs(worker, options, run_worker);
  }

  void add_simulate() {
    CLI::App& simulate = add(root_, "simulate",
                             "Complete withdrawals at a steady rate, handle their checks, and tell "
                             "how many had to wait. They are real withdrawals of the distributors "
                             "there are: use a database of its own",
                             "simulate --rate 100 --for 60s --handling 30ms");
    auto options = std::make_shared<SimulateOptions>();
    add_number(simulate, "--rate", options->rate, 1, 100'000, "Withdrawals in a second (100)");
    add_time(simulate, "--for", options->duration, "How long (60s)");
    add_time(simulate, "--handling", options->handling,
             "What each check takes longer than it does (30ms)");
    add_number(simulate, "--concurrency", options->concurrency, 1, 1000, "Checks at once (8)");
    add_json(simulate);
    runs(simulate, options, run_simulate);
  }

  CLI::App& root_;
  Invocation& invocation_;
};

}  // namespace

ExitCode parse_and_run(std::vector<std::string> arguments, Invocation& invocation) {
  CLI::App root{"Distributors rise to the level that their withdrawals and teams have reached.",
                "errand-distributors"};
  CommandLine line{root, invocation};
  if (arguments.empty()) {
    invocation.err << root.help();
    return ExitCode::usage;
  }
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    root.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    invocation.out << root.help();
    return ExitCode::done;
  } catch (const CLI::CallForVersion& version) {
    fmt::print(invocation.out, "{}\n", version.what());
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    fmt::print(invocation.err, "errand-distributors: {}\n",
               printable(explain_usage_error(root, error)));
    return ExitCode::usage;
  }
  return line.command();
}

}  // namespace errand::distributors
