#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/store/profiles.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"
#include "terminal/table.hpp"

namespace errand::invoices {
namespace {

struct AddCommand {
  std::string email;
  std::string name;
  std::string id;
  bool json = false;
};

struct ListCommand {
  bool json = false;
};

boost::json::object view(const Profile& profile) {
  return {{"user_id", profile.user_id.text()},
          {"email", profile.email},
          {"display_name", profile.display_name},
          {"created_at", to_iso8601(profile.created_at)}};
}

ExitCode add(const AddCommand& command, Invocation& invocation) {
  std::optional<UserId> id;
  if (!command.id.empty()) id = UserId::from_string(command.id);
  const std::unique_ptr<Database> database = invocation.database(Invocation::Missing::create);
  const Profile profile = add_profile(*database, command.email, command.name, id);
  if (command.json) {
    terminal::print_json(invocation.console, boost::json::serialize(view(profile)));
  } else {
    fmt::print(invocation.console.out, "{}\n", profile.user_id.text());
  }
  return ExitCode::done;
}

ExitCode list(const ListCommand& command, Invocation& invocation) {
  const std::vector<Profile> profiles = invocation.database()->profiles();
  if (command.json) {
    boost::json::array users;
    for (const Profile& profile : profiles) users.push_back(view(profile));
    terminal::print_json(invocation.console, boost::json::serialize(users));
    return ExitCode::done;
  }
  terminal::Table table{
      {{.title = "USER"}, {.title = "E-MAIL"}, {.title = "NAME", .may_shrink = true}}};
  for (const Profile& profile : profiles) {
    table.add_row({profile.user_id.text(), profile.email, profile.display_name});
  }
  if (table.empty()) {
    fmt::print(invocation.console.out, "There are no users yet\n");
  } else {
    table.print(invocation.console.out, invocation.console.out_screen);
  }
  return ExitCode::done;
}

}  // namespace

void add_user(CLI::App& parent, Invocation& invocation) {
  CLI::App& user =
      terminal::add_command(parent, "user", "Whose invoices they are", kIntakeCommands);
  terminal::require_command(user);

  const auto add_options = std::make_shared<AddCommand>();
  CLI::App& add_user = terminal::add_command(user, "add", "Add a user");
  terminal::add_argument(add_user, "ADDRESS", add_options->email,
                         "Where the user gets mail; mail to ann+anything@example.com is "
                         "ann@example.com's, too")
      .required();
  terminal::add_text(add_user, "--name", add_options->name, "NAME", "The user's name");
  terminal::add_text(add_user, "--id", add_options->id, "UUID",
                     "The user's id in another system (default: a new one)");
  add_json(add_user, add_options->json);
  add_dsn(add_user, invocation);
  terminal::add_examples(add_user, {"errand-invoices user add ann@example.com --name 'Ann Wang'"});
  runs(add_user, invocation, add_options, add);

  const auto list_options = std::make_shared<ListCommand>();
  CLI::App& list_users = terminal::add_command(user, "list", "List the users");
  add_json(list_users, list_options->json);
  add_dsn(list_users, invocation);
  runs(list_users, invocation, list_options, list);
}

}  // namespace errand::invoices
