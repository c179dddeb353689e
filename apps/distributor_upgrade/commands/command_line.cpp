#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/program.hpp"
#include "terminal/options.hpp"
#include "terminal/program.hpp"

/// All that the program takes from the command line.
namespace errand::distributors {
namespace {

using terminal::add_argument;
using terminal::add_command;
using terminal::add_duration;
using terminal::add_flag;
using terminal::add_number;
using terminal::add_text;
using terminal::AddedOption;
using terminal::kNoHighest;
using terminal::require_command;

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

class CommandLine {
 public:
  CommandLine(CLI::App& root, Invocation& invocation) : root_{root}, invocation_{invocation} {
    terminal::begin_program(root, invocation.console.out_screen, kFooter);
    root.fallthrough();  // --dsn may stand behind the command, too
    add_text(root, "--dsn", invocation.dsn_option, "DSN",
             "Where everything is: sqlite:FILE or postgresql://…; without it $ERRAND_DSN, else "
             "$MESSENGER_TRANSPORT_DSN, else sqlite:errand.db")
        .not_empty()
        .common();
    add_text(root, "--message-class", invocation.message_class_option, "CLASS",
             "What Symfony calls the message; without it $ERRAND_DISTRIBUTORS_MESSAGE_CLASS, else "
             "App\\Message\\DistributorUpgradeCheckMessage")
        .common();
    add_storage();
    add_levels();
    add_distributors();
    add_withdrawals();
    add_checks();
    add_worker();
    add_simulate();
  }

 private:
  static CLI::App& add(CLI::App& parent, const std::string& name, const std::string& purpose,
                       const std::string& example = "") {
    CLI::App& added = add_command(parent, name, purpose);
    if (!example.empty()) terminal::add_examples(added, {"errand-distributors " + example});
    return added;
  }

  CLI::App& add_group(const std::string& name, const std::string& purpose) {
    CLI::App& added = add(root_, name, purpose);
    require_command(added);
    return added;
  }

  template <class Options>
  void runs(CLI::App& command, const std::shared_ptr<Options>& options,
            ExitCode (*function)(const Options&, Invocation&)) {
    terminal::runs(command, invocation_, options, function);
  }
  void runs(CLI::App& command, std::function<ExitCode()> function) {
    terminal::runs(command, invocation_.command, std::move(function));
  }

  void add_json(CLI::App& command) { terminal::add_json(command, invocation_.json); }

  void add_storage() {
    CLI::App& setup = add(root_, "setup", "Make the tables that are missing",
                          "--dsn postgresql://app@db/shop setup");
    auto setup_options = std::make_shared<SetupOptions>();
    add_text(setup, "--skip-levels", setup_options->skip_levels, "WORD",
             "Whether one may rise past a level whose criteria do not hold; kept in the database")
        .one_of({"yes", "no"});
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
    add_number(added, "RANK", options->rank, 0, 1'000'000, "Higher is better").required();
    add_argument(added, "NAME", options->name, "How people call it").required();
    add_text(added, "--when", options->criteria, "CRITERIA",
             "The criteria: figures and numbers, + - *, >= > <= < = !=, and, or, not, parentheses; "
             "see level figures. Without them no check leads to it");
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
    add_argument(set, "NAME", options->name, "The level").required();
    add_text(set, "--when", options->criteria, "CRITERIA", "The new criteria, as in level add");
    add_flag(set, "--by-hand", options->by_hand, "No check leads to it any more");
    add_json(set);
    runs(set, options, run_level_set);
    CLI::App& remove = add(level, "remove", "Remove a level that nobody has or ever had");
    auto name = std::make_shared<std::string>();
    add_argument(remove, "NAME", *name, "The level").required();
    add_json(remove);
    runs(remove, [this, name] { return run_level_remove(*name, invocation_); });
  }

  void add_distributors() {
    CLI::App& group = add_group("distributor", "Distributors and their teams");
    CLI::App& added = add(group, "add", "Add a distributor at the lowest level; prints the id",
                          "distributor add 'Li Na' --sponsor 1");
    auto add_options = std::make_shared<DistributorAddOptions>();
    add_argument(added, "NAME", add_options->name, "The name").required();
    add_number(added, "--sponsor", add_options->sponsor, 1, kNoHighest, "Whose team they join");
    add_json(added);
    runs(added, add_options, run_distributor_add);

    CLI::App& show = add(group, "show", "One distributor, with all figures");
    auto id = std::make_shared<std::int64_t>();
    add_number(show, "ID", *id, 1, kNoHighest, "The distributor").required();
    add_json(show);
    runs(show, [this, id] { return run_distributor_show(*id, invocation_); });

    CLI::App& list = add(group, "list", "Distributors by id");
    auto list_options = std::make_shared<DistributorListOptions>();
    add_number(list, "--after", list_options->after, 0, kNoHighest, "Only those with higher ids");
    add_number(list, "--limit", list_options->limit, 1, 1'000'000, "At most this many (50)");
    add_json(list);
    runs(list, list_options, run_distributor_list);

    CLI::App& set_level =
        add(group, "set-level", "Give a level by hand, up or down; the history says so",
            "distributor set-level 1 Gold");
    auto set_level_options = std::make_shared<DistributorSetLevelOptions>();
    add_number(set_level, "ID", set_level_options->id, 1, kNoHighest, "The distributor").required();
    add_argument(set_level, "LEVEL", set_level_options->level, "Its name, see level list")
        .required();
    add_json(set_level);
    runs(set_level, set_level_options, run_distributor_set_level);

    CLI::App& tree = add(group, "tree", "A distributor's team, or everybody");
    auto tree_options = std::make_shared<DistributorTreeOptions>();
    add_number(tree, "ID", tree_options->id, 1, kNoHighest, "Whose team");
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
    add_number(create, "DISTRIBUTOR", options->distributor, 1, kNoHighest, "Whose").required();
    add_argument(create, "AMOUNT", options->amount, "Such as 1250 or 1250.50").required();
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
    add_number(move, "ID", *id, 1, kNoHighest, "The withdrawal").required();
    add_json(move);
    runs(move, [this, id, status] { return run_withdraw_move(*id, status, invocation_); });
  }

  std::shared_ptr<ListOptions> list_options(CLI::App& list) {
    auto options = std::make_shared<ListOptions>();
    add_number(list, "--distributor", options->distributor, 1, kNoHighest, "Only this one's");
    add_number(list, "--limit", options->limit, 1, 1'000'000, "At most this many (50)");
    add_json(list);
    return options;
  }

  void add_checks() {
    CLI::App& check =
        add(root_, "check", "Check now whether a higher level is reached, say why, and upgrade",
            "check 1 --dry-run");
    auto options = std::make_shared<CheckOptions>();
    const AddedOption id = add_number(check, "ID", options->id, 1, kNoHighest, "The distributor");
    add_flag(check, "--all", options->all, "Everybody").excludes(id);
    add_flag(check, "--dry-run", options->dry_run, "Only look");
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
    add_number(worker, "--limit", options->limit, 1, kNoHighest, "Stop after this many");
    add_flag(worker, "--drain", options->drain,
             "Stop when none is due. Ends with 0, too, where checks went to "
             "failed_messages: see what it tells");
    add_flag(worker, "--quiet", options->quiet, "Log warnings and errors only");
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
    add_duration(simulate, "--for", options->duration, "How long (60s)");
    add_duration(simulate, "--handling", options->handling,
                 "What each check takes longer than it does (30ms)");
    add_number(simulate, "--concurrency", options->concurrency, 1, 1000, "Checks at once (8)");
    add_json(simulate);
    runs(simulate, options, run_simulate);
  }

  CLI::App& root_;
  Invocation& invocation_;
};

}  // namespace

ExitCode parse_and_run(std::vector<std::string> arguments, terminal::Console& console) {
  CLI::App root{"Distributors rise to the level that their withdrawals and teams have reached.",
                kProgram};
  Invocation invocation{.console = console};
  const CommandLine line{root, invocation};
  const auto ended = terminal::parse_arguments(root, std::move(arguments), console);
  return ended ? *ended : invocation.command();
}

}  // namespace errand::distributors
