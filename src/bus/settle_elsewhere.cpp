#include "bus/settle_elsewhere.hpp"

#include <map>

namespace errand::detail {

std::vector<MessageSettleStatus> settle_elsewhere(Transport& from,
                                                  std::span<const MessageSettlement> settlements) {
  std::vector<Hold> holds;
  holds.reserve(settlements.size());
  for (const MessageSettlement& settlement : settlements) holds.push_back(settlement.hold);
  // What somebody else has by now is his to forward.
  const std::vector<std::optional<Hold>> held = from.keep_alive(holds);

  std::map<Transport*, std::vector<Outgoing>> forwards;
  std::vector<MessageSettlement> ends;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    if (!held[i]) continue;
    const MessageSettlement::Forward& forward = *settlements[i].forward;
    forwards[forward.to].push_back(forward.message);
    ends.push_back({.hold = *held[i]});
    places.push_back(i);
  }
  for (const auto& [to, messages] : forwards) to->send(messages);

  std::vector<MessageSettleStatus> statuses(settlements.size(), MessageSettleStatus::lost);
  const std::vector<MessageSettleStatus> ended = from.settle(ends);
  for (std::size_t i = 0; i < places.size(); ++i) statuses[places[i]] = ended[i];
  return statuses;
}

}  // namespace errand::detail
