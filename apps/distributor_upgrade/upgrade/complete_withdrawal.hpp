#pragma once

#include <cstdint>

#include "distributor_upgrade/model/withdrawal.hpp"
#include "distributor_upgrade/upgrade/check_sender.hpp"

namespace errand::distributors {

/// The withdrawal becomes completed, and its distributor is to be checked: both when the session's
/// transaction commits, or neither. Throws as move_withdrawal(), and then sends nothing.
Withdrawal complete_withdrawal(Session& session, const CheckSender& checks,
                               std::int64_t withdrawal_id);

}  // namespace errand::distributors
