#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace errand::distributors {

/// Asks whether a distributor reaches a higher level. Ids only: what they stand for is looked up
/// when it is handled, and may have changed by then. Immutable.
class DistributorUpgradeCheckMessage {
 public:
  explicit DistributorUpgradeCheckMessage(
      std::int64_t distributor_id,
      std::optional<std::int64_t> triggering_withdraw_ledger_id = std::nullopt)
      : distributor_id_{distributor_id},
        triggering_withdraw_ledger_id_{triggering_withdraw_ledger_id} {}

  [[nodiscard]] std::int64_t distributor_id() const noexcept { return distributor_id_; }
  [[nodiscard]] std::optional<std::int64_t> triggering_withdraw_ledger_id() const noexcept {
    return triggering_withdraw_ledger_id_;
  }

 private:
  std::int64_t distributor_id_;
  std::optional<std::int64_t> triggering_withdraw_ledger_id_;
};

/// What it is called in this program.
inline constexpr const char* kCheckType = "distributor.upgrade_check";

/// What Symfony calls it, unless configured otherwise.
inline constexpr const char* kCheckClass = "App\\Message\\DistributorUpgradeCheckMessage";

/// {"distributorId":12345,"triggeringWithdrawLedgerId":67890}, as Symfony's serializer writes it.
[[nodiscard]] std::string to_json(const DistributorUpgradeCheckMessage& message);

/// Throws ValidationException naming the member that is wrong.
[[nodiscard]] DistributorUpgradeCheckMessage read_check_message(std::string_view json);

}  // namespace errand::distributors
