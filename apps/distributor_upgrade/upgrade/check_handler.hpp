#pragma once

#include "errand/handler.hpp"

#include "distributor_upgrade/upgrade/check_message.hpp"
#include "distributor_upgrade/upgrade/upgrade_service.hpp"

namespace errand::distributors {

/// What a worker does with a check:
///
///     no such distributor              a warning; the message is done, as trying again is no use
///     no such withdrawal               a warning; upgraded without the link
///     criteria or database fail        thrown: the message is tried again, then failed_messages
///     criteria of a higher level fail  a warning; upgraded as far as it is certain
///     a body that is no check          failed_messages, at once
class DistributorUpgradeCheckHandler {
 public:
  /// `service` must outlive it.
  explicit DistributorUpgradeCheckHandler(DistributorUpgradeService& service) : service_{service} {}

  void operator()(const DistributorUpgradeCheckMessage& message, Logger& log) const;

  /// Serves kCheckType with this handler; it must outlive `handlers`.
  void add_to(Handlers& handlers) const;

 private:
  DistributorUpgradeService& service_;
};

}  // namespace errand::distributors
