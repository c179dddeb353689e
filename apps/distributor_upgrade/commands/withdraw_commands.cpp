#include <chrono>
#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/upgrade/complete_withdrawal.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/table.hpp"

namespace errand::distributors {

using Align = terminal::Column::Align;
namespace {

/// Tables have no room for fractions of a second.
std::string shown(Timestamp time) {
  return to_iso8601(std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace

ExitCode run_withdraw_create(const WithdrawCreateOptions& options, Invocation& invocation) {
  const std::int64_t cents = parse_amount(options.amount);
  std::int64_t id = 0;
  invocation.database()->write(
      [&](Session& session) { id = create_withdrawal(session, options.distributor, cents); });
  invocation.print_id(id);
  return ExitCode::done;
}

ExitCode run_withdraw_move(std::int64_t id, WithdrawalStatus status, Invocation& invocation) {
  const auto database = invocation.database();
  const bool completes = status == WithdrawalStatus::completed;
  Withdrawal withdrawal;
  if (completes) {
    const auto checks = invocation.checks();
    const CheckSender sender{*checks, invocation.message_class()};
    database->write(
        [&](Session& session) { withdrawal = complete_withdrawal(session, sender, id); });
  } else {
    database->write([&](Session& session) { withdrawal = move_withdrawal(session, id, status); });
  }
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(withdrawal));
  } else {
    fmt::print(invocation.console.out, "withdrawal {} of {} is {}{}\n", withdrawal.id,
               money_text(withdrawal.amount_cents), to_string(withdrawal.status),
               completes ? fmt::format("; {} (distributor {}) is to be checked",
                                       terminal::printable(withdrawal.distributor),
                                       withdrawal.distributor_id)
                         : "");
  }
  return ExitCode::done;
}

ExitCode run_withdraw_list(const ListOptions& options, Invocation& invocation) {
  std::vector<Withdrawal> withdrawals;
  invocation.database()->read([&](Session& session) {
    withdrawals =
        list_withdrawals(session, options.distributor, static_cast<std::size_t>(options.limit));
  });
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(withdrawals));
    return ExitCode::done;
  }
  terminal::Table table{{{.title = "ID", .align = Align::right},
                         {.title = "DISTRIBUTOR", .may_shrink = true},
                         {.title = "AMOUNT", .align = Align::right},
                         {.title = "STATUS"},
                         {.title = "CREATED", .may_shrink = true},
                         {.title = "COMPLETED", .may_shrink = true}}};
  for (const Withdrawal& withdrawal : withdrawals) {
    table.add_row({std::to_string(withdrawal.id),
                   fmt::format("{} #{}", withdrawal.distributor, withdrawal.distributor_id),
                   money_text(withdrawal.amount_cents), std::string{to_string(withdrawal.status)},
                   shown(withdrawal.created_at),
                   withdrawal.completed_at ? shown(*withdrawal.completed_at) : ""});
  }
  table.print(invocation.console.out, invocation.console.out_screen);
  return ExitCode::done;
}

ExitCode run_history(const ListOptions& options, Invocation& invocation) {
  std::vector<UpgradeRecord> upgrades;
  invocation.database()->read([&](Session& session) {
    upgrades = list_upgrades(session, options.distributor, static_cast<std::size_t>(options.limit));
  });
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(upgrades));
    return ExitCode::done;
  }
  terminal::Table table{{{.title = "TIME"},
                         {.title = "DISTRIBUTOR", .may_shrink = true},
                         {.title = "FROM"},
                         {.title = "TO"},
                         {.title = "WITHDRAWAL", .align = Align::right},
                         {.title = "CRITERIA", .may_shrink = true}}};
  for (const UpgradeRecord& upgrade : upgrades) {
    const auto& ledger = upgrade.triggering_withdraw_ledger_id;
    table.add_row({shown(upgrade.upgrade_time),
                   fmt::format("{} #{}", upgrade.distributor, upgrade.distributor_id),
                   upgrade.previous_level, upgrade.new_level, ledger ? std::to_string(*ledger) : "",
                   upgrade.criteria.value_or("given by hand")});
  }
  table.print(invocation.console.out, invocation.console.out_screen);
  return ExitCode::done;
}

}  // namespace errand::distributors
