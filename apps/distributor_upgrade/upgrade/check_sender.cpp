#include "distributor_upgrade/upgrade/check_sender.hpp"

#include <vector>

namespace errand::distributors {

CheckSender::CheckSender(Transport& checks, const std::string& class_name)
    : checks_{checks}, bus_{types_, {{kCheckType, class_name}}} {
  bus_.route(kCheckType, checks);
}

void CheckSender::send(Session& session, const DistributorUpgradeCheckMessage& message) const {
  const Outgoing outgoing = bus_.prepare_json(kCheckType, to_json(message));
  session.send(checks_, {&outgoing, 1});
}

void CheckSender::send(std::span<const DistributorUpgradeCheckMessage> messages) const {
  std::vector<Outgoing> outgoing;
  outgoing.reserve(messages.size());
  for (const auto& message : messages) {
    outgoing.push_back(bus_.prepare_json(kCheckType, to_json(message)));
  }
  checks_.send(outgoing);
}

}  // namespace errand::distributors
