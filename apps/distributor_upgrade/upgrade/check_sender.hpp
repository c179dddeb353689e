#pragma once

#include <span>
#include <string>

#include "errand/bus.hpp"
#include "errand/message.hpp"
#include "errand/transport.hpp"

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/upgrade/check_message.hpp"

namespace errand::distributors {

/// Sends checks. Thread-safe.
class CheckSender {
 public:
  /// `checks` must outlive it. `class_name`: what the message is called on the wire.
  explicit CheckSender(Transport& checks, const std::string& class_name = kCheckClass);

  /// The check is there if and when the session's transaction commits.
  void send(Session& session, const DistributorUpgradeCheckMessage& message) const;

  /// Durable on return.
  void send(std::span<const DistributorUpgradeCheckMessage> messages) const;

 private:
  Transport& checks_;
  const MessageTypes types_;
  Bus bus_;
};

}  // namespace errand::distributors
