#include <algorithm>
#include <iterator>

#include "bus/settle_elsewhere.hpp"
#include "engine/redis/in_parts.hpp"
#include "engine/redis/stream_bytes.hpp"
#include "engine/redis/transport.hpp"

namespace errand::redis {
namespace {

using std::chrono::seconds;

/// Old kept messages are looked for at most this often.
constexpr seconds kBetweenRemovals{60};

void add_hold(Command& arguments, const Hold& hold) { arguments.add(hold.id).add(hold.mark); }

bool can_be_held(const Hold& hold) { return parse_stream_id(hold.id).has_value(); }

std::vector<Hold> those_that_can_be_held(std::span<const Hold> holds) {
  std::vector<Hold> possible;
  std::ranges::copy_if(holds, std::back_inserter(possible), can_be_held);
  return possible;
}

}  // namespace

void RedisTransport::ask_of_holds(const Script& script, const Command& before,
                                  const Command& arguments, std::size_t holds,
                                  std::vector<bool>& answers) {
  try {
    const Reply reply = group_.write(script, before, arguments);
    for (std::size_t i = 0; i < holds; ++i) {
      answers.push_back(reply.value()[i].integer() == 1);
    }
  } catch (const NoGroup&) {
    // Another program has deleted the stream, and with it all holds.
    answers.insert(answers.end(), holds, false);
  }
}

std::vector<std::optional<Hold>> RedisTransport::keep_alive(std::span<const Hold> holds) {
  std::vector<std::optional<Hold>> kept(holds.size());
  const std::vector<Hold> possible = those_that_can_be_held(holds);
  std::vector<bool> answers;
  in_parts(std::span<const Hold>{possible}, StreamGroup::kMost, add_hold,
           [&](const Command& arguments, std::span<const Hold> part) {
             ask_of_holds(stream_scripts().keep_alive, {}, arguments, part.size(), answers);
           });
  auto answer = answers.begin();
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (can_be_held(holds[i]) && *answer++) kept[i] = holds[i];
  }
  return kept;
}

void RedisTransport::release(std::span<const Hold> holds) {
  const std::vector<Hold> possible = those_that_can_be_held(holds);
  if (possible.empty()) return;
  std::vector<bool> released;
  in_parts(std::span<const Hold>{possible}, StreamGroup::kMost, add_hold,
           [&](const Command& arguments, std::span<const Hold> part) {
             Command silence;
             silence.add(too_long());
             ask_of_holds(stream_scripts().release, silence, arguments, part.size(), released);
           });
  look_for_lost_next_time();  // where it stays in its place, it is found there
  waker_.tell();
}

std::string RedisTransport::kept_from() {
  if (settings_.remove_after.count() == 0) return "";
  const std::lock_guard lock{mutex_};
  const Timestamp at = clock_.now();
  if (removed_kept_at_ && at < *removed_kept_at_ + kBetweenRemovals) return "";
  removed_kept_at_ = at;
  return std::to_string((now() - settings_.remove_after).time_since_epoch().count());
}

std::vector<MessageSettleStatus> RedisTransport::settle_here(
    std::span<const MessageSettlement> settlements) {
  std::vector<bool> answers;
  const std::string kept_from_id = kept_from();
  in_parts(
      settlements, StreamGroup::kMost,
      [&](Command& arguments, const MessageSettlement& settlement) {
        add_hold(arguments, settlement.hold);
        if (settlement.forward) {
          on_same_server(settlement.forward->to)
              ->add_forward(arguments, settlement.forward->message);
        } else {
          arguments.add("");
        }
      },
      [&](const Command& arguments, std::span<const MessageSettlement> part) {
        const auto [first, last] = std::ranges::minmax(
            part, {}, [](const MessageSettlement& one) { return *parse_stream_id(one.hold.id); });
        Command before;
        before.add(settings_.delete_after_ack ? "1" : "0")
            .add(settings_.delete_after_reject ? "1" : "0")
            .add(settings_.remove_after.count() > 0 ? settings_.kept_stream() : "")
            .add(kept_from_id)
            .add(first.hold.id)
            .add(last.hold.id)
            .add(consumer_);
        ask_of_holds(stream_scripts().settle, before, arguments, part.size(), answers);
      });
  const bool retries = std::ranges::any_of(settlements, [&](const MessageSettlement& settlement) {
    return settlement.forward && settlement.forward->to == this;
  });
  if (retries) waker_.tell();
  std::vector<MessageSettleStatus> statuses;
  for (const bool settled : answers) {
    statuses.push_back(settled ? MessageSettleStatus::settled : MessageSettleStatus::lost);
  }
  return statuses;
}

std::vector<MessageSettleStatus> RedisTransport::settle(
    std::span<const MessageSettlement> settlements) {
  std::vector<MessageSettlement> possible;
  std::ranges::copy_if(settlements, std::back_inserter(possible),
                       [](const MessageSettlement& one) { return can_be_held(one.hold); });
  const std::vector<MessageSettleStatus> found = detail::settle_here_and_elsewhere(
      *this, possible,
      [this](const MessageSettlement& one) {
        return !one.forward || on_same_server(one.forward->to) != nullptr;
      },
      [this](std::span<const MessageSettlement> here) { return settle_here(here); });
  std::vector<MessageSettleStatus> statuses(settlements.size(), MessageSettleStatus::lost);
  auto next = found.begin();
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    if (can_be_held(settlements[i].hold)) statuses[i] = *next++;
  }
  return statuses;
}

}  // namespace errand::redis
