#include "bus/settle_elsewhere.hpp"

#include <map>

#include "errand/errors.hpp"

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

std::vector<MessageSettleStatus> settle_here_and_elsewhere(
    Transport& from, std::span<const MessageSettlement> settlements,
    const std::function<bool(const MessageSettlement&)>& is_here,
    const std::function<std::vector<MessageSettleStatus>(std::span<const MessageSettlement>)>&
        settle_here) {
  std::vector<MessageSettleStatus> statuses(settlements.size(), MessageSettleStatus::lost);
  struct Part {
    std::vector<MessageSettlement> settlements{};
    std::vector<std::size_t> places{};
  };
  Part here;
  Part elsewhere;
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    Part& part = is_here(settlements[i]) ? here : elsewhere;
    part.settlements.push_back(settlements[i]);
    part.places.push_back(i);
  }
  const auto place = [&](const Part& part, const std::vector<MessageSettleStatus>& found) {
    for (std::size_t i = 0; i < found.size(); ++i) statuses[part.places[i]] = found[i];
  };
  if (!elsewhere.settlements.empty()) {
    place(elsewhere, settle_elsewhere(from, elsewhere.settlements));
  }
  if (here.settlements.empty()) return statuses;
  try {
    place(here, settle_here(here.settlements));
  } catch (const StorageException& error) {
    if (elsewhere.settlements.empty()) throw;
    throw StorageException{error.what(), StorageException::Retry::in_doubt};
  }
  return statuses;
}

MoveStatus move_elsewhere(Transport& from, const std::string& id,
                          const MessageSettlement::Forward& forward, Timestamp now) {
  const std::optional<StoredMessage> message = from.find(id);
  const bool is_held =
      message && message->delivered_at && *message->delivered_at + from.redeliver_timeout() >= now;
  if (!message || is_held) return MoveStatus::left_alone;
  forward.to->send({&forward.message, 1});
  return from.remove({&id, 1}) == 1 ? MoveStatus::moved : MoveStatus::doubled;
}

}  // namespace errand::detail
