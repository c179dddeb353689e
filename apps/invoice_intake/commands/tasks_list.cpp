#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/commands/task_view.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

struct ListCommand {
  std::vector<std::string> statuses;
  std::string type;
  std::string from;
  std::string until;
  std::string data;
  std::string metadata;
  std::optional<std::chrono::milliseconds> active_within;
  EmailTaskFilter filter;
  std::int64_t page = 1;
  std::int64_t page_size = 20;
  bool json = false;
};

EmailTaskFilter filter_of(const ListCommand& command, Timestamp now) {
  EmailTaskFilter filter = command.filter;
  for (const std::string& word : command.statuses) {
    filter.statuses.push_back(*parse_email_task_status(word));
  }
  if (!command.type.empty()) filter.type = parse_task_type(command.type);
  if (!command.from.empty()) filter.created_from = parse_moment(command.from, "--from");
  if (!command.until.empty()) {
    const Timestamp until = parse_moment(command.until, "--until");
    // A day means all of it.
    filter.created_before = command.until.size() == 10 ? until + std::chrono::days{1} : until;
  }
  if (command.active_within) filter.active_since = now - *command.active_within;
  if (!command.data.empty()) filter.data_contains = command.data;
  if (!command.metadata.empty()) filter.metadata_contains = command.metadata;
  return filter;
}

ExitCode list(const ListCommand& command, Invocation& invocation) {
  const std::unique_ptr<Database> database = invocation.database();
  const Profile user = invocation.user(*database);
  Console& console = invocation.console;
  database->read(user.user_id, [&](Session& session) {
    const EmailTaskPage page =
        list_tasks(session, filter_of(command, session.now()), command.page, command.page_size);
    if (command.json) {
      terminal::print_json(console, task_page_json(page));
      return;
    }
    if (!page.items.empty()) print_tasks(console, page.items, session.now());
    print_position(console, page.page, page.total_pages(), page.total, "tasks");
  });
  return ExitCode::done;
}

template <class Enum, std::size_t N>
std::vector<std::string> words_of(const std::array<Enum, N>& all) {
  std::vector<std::string> words;
  for (const Enum value : all) words.emplace_back(to_string(value));
  return words;
}

}  // namespace

void add_tasks_list(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<ListCommand>();
  CLI::App& command = terminal::add_command(parent, "list", "List tasks, the newest first");
  terminal::add_texts(command, "--status", options->statuses, "STATUS",
                      "Only these, separated by commas or each with its own --status")
      .comma_separated()
      .one_of(words_of(kAllEmailTaskStatuses));
  terminal::add_text(command, "--type", options->type, "TYPE", "Only this one")
      .one_of(words_of(kAllTaskTypes));
  terminal::add_text(command, "--subject", options->filter.subject, "TEXT",
                     "Only those with this in the subject");
  terminal::add_text(command, "--from", options->from, "DAY", "Created on this day or later");
  terminal::add_text(command, "--until", options->until, "DAY", "Created on this day or earlier");
  terminal::add_duration(command, "--active-within", options->active_within,
                         "Changed within this time");
  terminal::add_text(command, "--data", options->data, "JSON",
                     "Only those whose task_data contain this JSON");
  terminal::add_text(command, "--metadata", options->metadata, "JSON",
                     "Only those whose metadata contain this JSON");
  terminal::add_flag(command, "--can-retry", options->filter.can_retry,
                     "Only failed ones with retries left");
  terminal::add_flag(command, "--with-failures", options->filter.with_failures,
                     "Only those with an attachment that could not be read");
  terminal::add_flag(command, "--deleted", options->filter.deleted, "The deleted ones instead");
  terminal::add_number(command, "--page", options->page, 1, 1'000'000, "Which page (default: 1)");
  terminal::add_number(command, "--page-size", options->page_size, 1, 1000,
                       "Tasks a page (default: 20)");
  add_user_option(command, invocation);
  add_json(command, options->json);
  add_dsn(command, invocation);
  terminal::add_examples(
      command,
      {
          "errand-invoices tasks list --status failed,retrying",
          "errand-invoices tasks list --status completed --with-failures",
          "errand-invoices tasks list --subject 发票 --from 2026-01-01",
          R"(errand-invoices tasks list --data '{"email_data":{"from":"billing@example.com"}}')",
      });
  runs(command, invocation, options, list);
}

}  // namespace errand::invoices
