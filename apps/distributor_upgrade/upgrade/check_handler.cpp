#include "distributor_upgrade/upgrade/check_handler.hpp"

#include <fmt/format.h>

#include "errand/errors.hpp"

namespace errand::distributors {

void DistributorUpgradeCheckHandler::operator()(const DistributorUpgradeCheckMessage& message,
                                                Logger& log) const {
  const CheckResult result =
      service_.check_and_upgrade(message.distributor_id(), message.triggering_withdraw_ledger_id());
  if (!result.distributor_known) {
    log.warning(
        fmt::format("there is no distributor {}; its check is dropped", message.distributor_id()));
    return;
  }
  if (!result.unlinked.empty()) {
    log.warning(fmt::format("distributor {} is checked without its withdrawal: {}",
                            message.distributor_id(), result.unlinked));
  }
  if (!result.problem.empty()) {
    log.warning(fmt::format("distributor {} may have reached more: {}", message.distributor_id(),
                            result.problem));
  }
  if (result.upgrade) {
    log.info(fmt::format("distributor {} rose from {} to {}", message.distributor_id(),
                         result.upgrade->previous_level, result.upgrade->new_level));
  } else {
    log.info(
        fmt::format("distributor {} stays: no higher level is reached", message.distributor_id()));
  }
}

void DistributorUpgradeCheckHandler::add_to(Handlers& handlers) const {
  handlers.add_raw(kCheckType, [this](const Envelope& envelope, TaskContext& context) {
    const auto message = [&] {
      try {
        return read_check_message(envelope.body());
      } catch (const ValidationException& error) {
        throw Unrecoverable{fmt::format("this is no {}: {}", kCheckType, error.what())};
      }
    }();
    (*this)(message, context.log());
    return std::string{"null"};
  });
}

}  // namespace errand::distributors
