#include "distributor_upgrade/model/withdrawal.hpp"

#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/model/not_found.hpp"

namespace errand::distributors {
namespace {

constexpr const char* kColumns =
    "id, distributor_id, amount_cents, status, created_at, completed_at";

Withdrawal withdrawal_of(const Row& row) {
  return {.id = row[0].number(),
          .distributor_id = row[1].number(),
          .amount_cents = row[2].number(),
          .status = row[3].text(),
          .created_at = row[4].time(),
          .completed_at = row[5].optional_time()};
}

}  // namespace

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
  const Answer found =
      session.run(std::string{"SELECT "} + kColumns + " FROM withdraw_ledger WHERE id = $1", {id});
  if (found.rows.empty()) return std::nullopt;
  return withdrawal_of(found.rows[0]);
}

std::vector<Withdrawal> list_withdrawals(Session& session,
                                         std::optional<std::int64_t> distributor_id,
                                         std::size_t limit) {
  std::string sql = std::string{"SELECT "} + kColumns + " FROM withdraw_ledger";
  std::vector<Parameter> parameters{static_cast<std::int64_t>(limit)};
  if (distributor_id) {
    sql += " WHERE distributor_id = $2";
    parameters.emplace_back(*distributor_id);
  }
  std::vector<Withdrawal> withdrawals;
  for (const Row& row : session.run(sql + " ORDER BY id DESC LIMIT $1", parameters).rows) {
    withdrawals.push_back(withdrawal_of(row));
  }
  return withdrawals;
}

Withdrawal move_withdrawal(Session& session, std::int64_t id, const std::string& status) {
  const bool completes = status == "completed";
  // The condition is part of the change: of two at once, the second finds no row.
  const Answer moved = session.run(
      std::string{"UPDATE withdraw_ledger SET status = $2, completed_at = $3 WHERE id = $1 AND "
                  "status IN "} +
          (status == "processing" ? "('pending')" : "('pending', 'processing')") + " RETURNING " +
          kColumns,
      {id, status, completes ? Parameter{to_sql_time(session.now())} : Parameter{nullptr}});
  if (!moved.rows.empty()) return withdrawal_of(moved.rows[0]);
  const std::optional<Withdrawal> found = find_withdrawal(session, id);
  if (!found) throw NotFound{"there is no withdrawal " + std::to_string(id)};
  throw NotPossible{"withdrawal " + std::to_string(id) + " is " + found->status +
                    (found->status == status ? " already" : " and cannot become " + status)};
}

}  // namespace errand::distributors
