#include "distributor_upgrade/upgrade/check_message.hpp"

#include <boost/describe/class.hpp>

#include "errand/codec.hpp"

namespace errand::distributors {
namespace {

/// The names are those of the properties of the PHP class.
struct Body {
  std::int64_t distributorId = 0;                                         // NOLINT
  std::optional<std::int64_t> triggeringWithdrawLedgerId = std::nullopt;  // NOLINT
};
BOOST_DESCRIBE_STRUCT(Body, (), (distributorId, triggeringWithdrawLedgerId))

}  // namespace

std::string to_json(const DistributorUpgradeCheckMessage& message) {
  return encode(Body{message.distributor_id(), message.triggering_withdraw_ledger_id()});
}

DistributorUpgradeCheckMessage read_check_message(std::string_view json) {
  constexpr JsonLimits kSmall{.max_bytes = 1024, .max_depth = 8};
  const Body body = decode<Body>(json, kSmall);
  return DistributorUpgradeCheckMessage{body.distributorId, body.triggeringWithdrawLedgerId};
}

}  // namespace errand::distributors
