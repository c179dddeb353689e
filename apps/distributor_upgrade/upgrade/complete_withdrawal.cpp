#include "distributor_upgrade/upgrade/complete_withdrawal.hpp"

namespace errand::distributors {

Withdrawal complete_withdrawal(Session& session, const CheckSender& checks,
                               std::int64_t withdrawal_id) {
  Withdrawal withdrawal = move_withdrawal(session, withdrawal_id, WithdrawalStatus::completed);
  checks.send(session, DistributorUpgradeCheckMessage{withdrawal.distributor_id, withdrawal.id});
  return withdrawal;
}

}  // namespace errand::distributors
