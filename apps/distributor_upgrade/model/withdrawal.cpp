#include "distributor_upgrade/model/withdrawal.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "errand/errors.hpp"

#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/model/not_found.hpp"

namespace errand::distributors {
namespace {

constexpr const char* kSelect =
    "SELECT w.id, w.distributor_id, d.name, w.amount_cents, w.status, w.created_at, w.completed_at "
    "FROM withdraw_ledger w JOIN distributor d ON d.id = w.distributor_id ";

constexpr std::array<std::string_view, 4> kStatuses{"pending", "processing", "completed", "failed"};

WithdrawalStatus status_of(const Value& value) {
  const auto* found = std::ranges::find(kStatuses, value.text());
  if (found == kStatuses.end()) {
    throw StorageException{"a withdrawal's status is '" + value.text().substr(0, 40) +
                               "', which this program does not know",
                           StorageException::Retry::useless};
  }
  return static_cast<WithdrawalStatus>(found - kStatuses.begin());
}

Withdrawal withdrawal_of(const Row& row) {
  return {.id = row[0].number(),
          .distributor_id = row[1].number(),
          .distributor = row[2].text(),
          .amount_cents = row[3].number(),
          .status = status_of(row[4]),
          .created_at = row[5].time(),
          .completed_at = row[6].optional_time()};
}

}  // namespace

std::string_view to_string(WithdrawalStatus status) noexcept {
  return kStatuses[static_cast<std::size_t>(status)];
}

std::int64_t create_withdrawal(Session& session, std::int64_t distributor_id,
                               std::int64_t amount_cents) {
  (void)get_distributor(session, distributor_id);
  return session
      .run(
          "INSERT INTO withdraw_ledger (distributor_id, amount_cents, status, created_at) "
          "VALUES ($1, $2, 'pending', $3) RETURNING id",
          {distributor_id, amount_cents, to_sql_time(session.now())})
      .rows.at(0)
      .at(0)
      .number();
}

std::optional<Withdrawal> find_withdrawal(Session& session, std::int64_t id) {
  const Answer found = session.run(std::string{kSelect} + "WHERE w.id = $1", {id});
  if (found.rows.empty()) return std::nullopt;
  return withdrawal_of(found.rows[0]);
}

std::vector<Withdrawal> list_withdrawals(Session& session,
                                         std::optional<std::int64_t> distributor_id,
                                         std::size_t limit) {
  std::string sql = kSelect;
  std::vector<Parameter> parameters{static_cast<std::int64_t>(limit)};
  if (distributor_id) {
    (void)get_distributor(session, *distributor_id);
    sql += "WHERE w.distributor_id = $2 ";
    parameters.emplace_back(*distributor_id);
  }
  std::vector<Withdrawal> withdrawals;
  for (const Row& row : session.run(sql + "ORDER BY w.id DESC LIMIT $1", parameters).rows) {
    withdrawals.push_back(withdrawal_of(row));
  }
  return withdrawals;
}

Withdrawal move_withdrawal(Session& session, std::int64_t id, WithdrawalStatus status) {
  const std::string name{to_string(status)};
  const bool completes = status == WithdrawalStatus::completed;
  const bool processes = status == WithdrawalStatus::processing;
  // The condition is part of the change: of two at once, the second finds no row.
  const Answer moved = session.run(
      std::string{"UPDATE withdraw_ledger SET status = $2, completed_at = $3 WHERE id = $1 AND "
                  "status IN "} +
          (processes ? "('pending')" : "('pending', 'processing')"),
      {id, name, completes ? Parameter{to_sql_time(session.now())} : Parameter{nullptr}});
  const std::optional<Withdrawal> found = find_withdrawal(session, id);
  if (!found) throw NotFound{"there is no withdrawal " + std::to_string(id)};
  if (moved.changed == 1) return *found;
  throw NotPossible{"withdrawal " + std::to_string(id) + " is " +
                    std::string{to_string(found->status)} +
                    (found->status == status ? " already" : " and cannot become " + name)};
}

}  // namespace errand::distributors
