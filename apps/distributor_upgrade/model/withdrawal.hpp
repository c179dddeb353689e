#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/timestamp.hpp"

#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

/// pending → processing → completed or failed; processing may be left out. Stored by name: add,
/// never change.
enum class WithdrawalStatus : std::uint8_t { pending, processing, completed, failed };

[[nodiscard]] std::string_view to_string(WithdrawalStatus status) noexcept;

/// A row of withdraw_ledger.
struct Withdrawal {
  std::int64_t id = 0;
  std::int64_t distributor_id = 0;
  std::string distributor{};  ///< the name
  std::int64_t amount_cents = 0;
  WithdrawalStatus status = WithdrawalStatus::pending;
  Timestamp created_at{};
  std::optional<Timestamp> completed_at{};
};

/// Pending. Returns its id. Throws NotFound if there is no such distributor.
std::int64_t create_withdrawal(Session& session, std::int64_t distributor_id,
                               std::int64_t amount_cents);

[[nodiscard]] std::optional<Withdrawal> find_withdrawal(Session& session, std::int64_t id);

/// The newest first. Throws NotFound if there is no such distributor.
[[nodiscard]] std::vector<Withdrawal> list_withdrawals(Session& session,
                                                       std::optional<std::int64_t> distributor_id,
                                                       std::size_t limit);

/// The withdrawal in its new state. Throws NotFound; NotPossible if its state does not lead to
/// `status`: of two who try at once, one gets that.
Withdrawal move_withdrawal(Session& session, std::int64_t id, WithdrawalStatus status);

}  // namespace errand::distributors
