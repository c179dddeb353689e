#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "http/change_feed.hpp"
#include "http/loop.hpp"

namespace errand::http {

/// One client of /api/events. Belongs to the loop's thread.
class Subscriber {
 public:
  Subscriber(asio::io_context& loop, ChangeFeed::Interest wanted)
      : interest{std::move(wanted)}, news{loop} {}

  using Frame = std::shared_ptr<const std::string>;

  /// A client that does not read is told so when it reads again, instead of everything it missed.
  void offer(const std::shared_ptr<const Change>& change) {
    if (!wants(*change)) return;
    if (frames.size() >= kMostFrames) {
      static const auto missed = std::make_shared<const std::string>(
          "event: tasks\ndata: {\"items\":[],\"more\":true}\n\n");
      frames.assign({missed});
    }
    const bool whole = interest.only.empty() || change->kind == Change::Kind::stats;
    frames.push_back(whole ? Frame{change, &change->frame} : own_frame(*change));
    if (!frames.back()) {
      frames.pop_back();
      return;
    }
    news.cancel();
  }

  ChangeFeed::Interest interest;
  std::vector<Frame> frames{};  ///< to be sent
  Timer news;                   ///< cancelled when there are frames, or the stream is to end

 private:
  static constexpr std::size_t kMostFrames = 64;

  [[nodiscard]] bool wants(const Change& change) const {
    return change.kind == Change::Kind::stats ? interest.stats : interest.tasks;
  }

  /// Of the tasks it is interested in; null if there are none among these, and no others may have
  /// changed.
  [[nodiscard]] Frame own_frame(const Change& change) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < change.tasks.size(); ++i) {
      if (std::ranges::find(interest.only, change.tasks[i]) == interest.only.end()) continue;
      parts.push_back(change.kind == Change::Kind::tasks
                          ? change.items[i]
                          : fmt::format("\"{}\"", change.tasks[i].to_string()));
    }
    if (parts.empty() && !change.more) return nullptr;
    return std::make_shared<const std::string>(
        change.kind == Change::Kind::tasks
            ? fmt::format("event: tasks\ndata: {{\"items\":[{}],\"more\":{}}}\n\n",
                          fmt::join(parts, ","), change.more)
            : fmt::format("event: removed\ndata: {{\"taskIds\":[{}]}}\n\n", fmt::join(parts, ",")));
  }
};

/// All clients of /api/events. Belongs to the loop's thread.
class EventHub {
 public:
  void add(Subscriber& subscriber) { subscribers_.insert(&subscriber); }
  void remove(Subscriber& subscriber) { subscribers_.erase(&subscriber); }

  void publish(const std::shared_ptr<const Change>& change) {
    for (Subscriber* subscriber : subscribers_) subscriber->offer(change);
  }

  void wake_all() {
    for (Subscriber* subscriber : subscribers_) subscriber->news.cancel();
  }

 private:
  std::unordered_set<Subscriber*> subscribers_;
};

}  // namespace errand::http
