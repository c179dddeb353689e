#include "errand/memory_transport.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "bus/messenger_table.hpp"
#include "bus/settle_elsewhere.hpp"
#include "bus/signal_hub.hpp"
#include "bus/symfony_serializer.hpp"
#include "bus/symfony_stamps.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRedeliverTimeout = std::chrono::hours{1};

std::unique_ptr<const detail::SymfonySerializer> serializer_of(const ClassNames& class_names) {
  auto serializer = std::make_unique<detail::SymfonySerializer>();
  for (const auto& [type, class_name] : class_names) serializer->add(type, class_name);
  return serializer;
}

}  // namespace

class MemoryTransport::Hub final : public Signals {
 public:
  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override {
    return hub_.subscribe(signal, std::move(callback));
  }
  /// There are no others.
  [[nodiscard]] bool reaches_other_processes() const noexcept override { return true; }
  void tell() { hub_.deliver(Signal::work, {}); }

 private:
  detail::SignalHub hub_;
};

MemoryTransport::MemoryTransport(std::string name, const Clock& clock)
    : name_{std::move(name)}, clock_{clock}, hub_{std::make_unique<Hub>()} {}

MemoryTransport::~MemoryTransport() = default;

std::vector<Outgoing> MemoryTransport::sent(std::string_view type) const {
  const std::lock_guard lock{mutex_};
  if (type.empty()) return sent_;
  std::vector<Outgoing> found;
  std::ranges::copy_if(sent_, std::back_inserter(found), [&](const Outgoing& outgoing) {
    const auto header = outgoing.message.headers.find("type");
    return header != outgoing.message.headers.end() && header->second == type;
  });
  return found;
}

std::size_t MemoryTransport::count_sent(std::string_view type) const { return sent(type).size(); }

void MemoryTransport::send(std::span<const Outgoing> messages) {
  for (const Outgoing& message : messages) detail::check_outgoing(message);
  if (messages.empty()) return;
  {
    const std::lock_guard lock{mutex_};
    const Timestamp now = clock_.now();
    for (const Outgoing& message : messages) {
      const std::int64_t id = ++last_id_;
      entries_[id].message = {.id = std::to_string(id),
                              .message = message.message,
                              .created_at = now,
                              .available_at = now + std::max(message.delay, milliseconds{0})};
      sent_.push_back(message);
    }
  }
  hub_->tell();
}

bool MemoryTransport::is_held(const Entry& entry, Timestamp now) const {
  return entry.message.delivered_at && *entry.message.delivered_at + kRedeliverTimeout >= now;
}

std::vector<Delivery> MemoryTransport::receive(std::size_t limit) {
  const std::lock_guard lock{mutex_};
  const Timestamp now = clock_.now();
  std::set<std::pair<Timestamp, std::int64_t>> due;
  for (const auto& [id, entry] : entries_) {
    if (!is_held(entry, now) && entry.message.available_at <= now) {
      due.emplace(entry.message.available_at, id);
    }
  }
  std::vector<Delivery> deliveries;
  for (const auto& [available_at, id] : due) {
    if (deliveries.size() == limit) break;
    Entry& entry = entries_[id];
    entry.message.delivered_at = now;
    deliveries.push_back({.hold = {entry.message.id, std::to_string(++entry.deliveries)},
                          .message = entry.message.message});
  }
  return deliveries;
}

MemoryTransport::Entries::iterator MemoryTransport::held(const Hold& hold) {
  const auto entry = entries_.find(detail::row_id(hold.id));
  const bool ours = entry != entries_.end() && entry->second.message.delivered_at &&
                    std::to_string(entry->second.deliveries) == hold.mark;
  return ours ? entry : entries_.end();
}

std::vector<std::optional<Hold>> MemoryTransport::keep_alive(std::span<const Hold> holds) {
  const std::lock_guard lock{mutex_};
  std::vector<std::optional<Hold>> kept;
  for (const Hold& hold : holds) {
    const auto entry = held(hold);
    kept.push_back(entry != entries_.end() ? std::optional{hold} : std::nullopt);
    if (entry != entries_.end()) entry->second.message.delivered_at = clock_.now();
  }
  return kept;
}

std::vector<MessageSettleStatus> MemoryTransport::settle(
    std::span<const MessageSettlement> settlements) {
  std::vector<MessageSettleStatus> statuses;
  for (const MessageSettlement& settlement : settlements) {
    if (settlement.forward) {
      // Nothing is lost by a crash that loses everything: one after the other will do.
      statuses.push_back(detail::settle_elsewhere(*this, {&settlement, 1}).front());
      continue;
    }
    const std::lock_guard lock{mutex_};
    const auto entry = held(settlement.hold);
    statuses.push_back(entry != entries_.end() ? MessageSettleStatus::settled
                                               : MessageSettleStatus::lost);
    if (entry != entries_.end()) entries_.erase(entry);
  }
  return statuses;
}

void MemoryTransport::release(std::span<const Hold> holds) {
  if (holds.empty()) return;
  {
    const std::lock_guard lock{mutex_};
    for (const Hold& hold : holds) {
      const auto entry = held(hold);
      if (entry != entries_.end()) entry->second.message.delivered_at.reset();
    }
  }
  hub_->tell();
}

std::optional<milliseconds> MemoryTransport::next_due() {
  const std::lock_guard lock{mutex_};
  const Timestamp now = clock_.now();
  std::optional<milliseconds> next;
  for (const auto& [id, entry] : entries_) {
    if (is_held(entry, now) || entry.message.available_at <= now) continue;
    const auto wait = std::chrono::ceil<milliseconds>(entry.message.available_at - now);
    next = next ? std::min(*next, wait) : wait;
  }
  return next;
}

milliseconds MemoryTransport::redeliver_timeout() const noexcept { return kRedeliverTimeout; }

TransportStats MemoryTransport::stats() {
  const std::lock_guard lock{mutex_};
  const Timestamp now = clock_.now();
  TransportStats stats;
  for (const auto& [id, entry] : entries_) {
    if (is_held(entry, now)) {
      ++stats.in_flight;
    } else if (entry.message.available_at > now) {
      ++stats.delayed;
    } else {
      ++stats.ready;
      const auto age = std::chrono::floor<milliseconds>(now - entry.message.available_at);
      stats.oldest_ready = std::max(stats.oldest_ready.value_or(milliseconds{0}), age);
    }
  }
  return stats;
}

std::vector<StoredMessage> MemoryTransport::list(std::size_t limit, std::size_t offset) {
  const std::lock_guard lock{mutex_};
  std::vector<StoredMessage> messages;
  for (const auto& [id, entry] : entries_) {
    if (offset > 0) {
      --offset;
    } else if (messages.size() < limit) {
      messages.push_back(entry.message);
    }
  }
  return messages;
}

std::optional<StoredMessage> MemoryTransport::find(const std::string& id) {
  const std::lock_guard lock{mutex_};
  const auto entry = entries_.find(detail::row_id(id));
  if (entry == entries_.end()) return std::nullopt;
  return entry->second.message;
}

std::size_t MemoryTransport::remove(std::span<const std::string> ids) {
  const std::lock_guard lock{mutex_};
  const Timestamp now = clock_.now();
  std::size_t removed = 0;
  for (const std::string& id : ids) {
    const auto entry = entries_.find(detail::row_id(id));
    if (entry == entries_.end() || is_held(entry->second, now)) continue;
    entries_.erase(entry);
    ++removed;
  }
  return removed;
}

MoveStatus MemoryTransport::move(const std::string& id, const MessageSettlement::Forward& forward) {
  return detail::move_elsewhere(*this, id, forward, clock_.now());
}

std::size_t MemoryTransport::purge() {
  const std::lock_guard lock{mutex_};
  const std::size_t count = entries_.size();
  entries_.clear();
  return count;
}

Signals& MemoryTransport::signals() noexcept { return *hub_; }

SyncTransport::SyncTransport(const Handlers& handlers, const ClassNames& class_names,
                             std::string name, Logger& logger)
    : handlers_{handlers},
      serializer_{serializer_of(class_names)},
      name_{std::move(name)},
      logger_{logger} {}

SyncTransport::~SyncTransport() = default;

void SyncTransport::send(std::span<const Outgoing> messages) {
  for (const Outgoing& outgoing : messages) {
    detail::check_outgoing(outgoing);
    TaskContext context{
        TaskId::generate(), detail::retry_count(outgoing.message.headers) + 1, {}, logger_};
    static_cast<void>(handlers_.run(serializer_->read(outgoing.message), context));
  }
}

std::vector<Delivery> SyncTransport::receive(std::size_t limit) { return empty_.receive(limit); }

std::vector<std::optional<Hold>> SyncTransport::keep_alive(std::span<const Hold> holds) {
  return empty_.keep_alive(holds);
}

std::vector<MessageSettleStatus> SyncTransport::settle(
    std::span<const MessageSettlement> settlements) {
  return empty_.settle(settlements);
}

void SyncTransport::release(std::span<const Hold> holds) { empty_.release(holds); }

std::optional<milliseconds> SyncTransport::next_due() { return empty_.next_due(); }

milliseconds SyncTransport::redeliver_timeout() const noexcept {
  return empty_.redeliver_timeout();
}

std::vector<StoredMessage> SyncTransport::list(std::size_t limit, std::size_t offset) {
  return empty_.list(limit, offset);
}

std::optional<StoredMessage> SyncTransport::find(const std::string& id) { return empty_.find(id); }

std::size_t SyncTransport::remove(std::span<const std::string> ids) { return empty_.remove(ids); }

MoveStatus SyncTransport::move(const std::string& id, const MessageSettlement::Forward& forward) {
  return empty_.move(id, forward);
}

}  // namespace errand
