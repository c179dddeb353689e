#include "app/ended_counter.hpp"

#include <algorithm>
#include <utility>

namespace errand::detail {
namespace {

/// A task shows up when its transaction is done, later than its completed_at says: seconds are
/// looked at again for so long.
constexpr std::chrono::seconds kLate{2};

}  // namespace

std::optional<EndedCounter::News> EndedCounter::look(Timestamp now) {
  const bool first = !since_;
  EndedTasks ended = engine_.catalog().ended(since_.value_or(now - kLate), latest_);
  News news;
  std::map<Timestamp, StatusCounts> counted;
  for (const EndedTasks::Second& second : ended.seconds) {
    const auto before = counted_.find(second.begin);
    for (std::size_t i = 0; i < second.tasks.size(); ++i) {
      // What was deleted meanwhile does not undo that it ended.
      const std::int64_t known = before == counted_.end() ? 0 : before->second.at(i);
      news.tasks.at(i) += std::max<std::int64_t>(second.tasks.at(i) - known, 0);
    }
    counted.emplace(second.begin, second.tasks);
  }
  std::map<TaskId, Timestamp> told;
  for (TaskRecord& task : ended.latest) {
    const Timestamp at = task.data.completed_at.value_or(now);
    const auto before = told_.find(task.data.id);
    const bool is_news = before == told_.end() || before->second != at;
    told.emplace(task.data.id, at);
    if (is_news) news.latest.push_back(std::move(task));
  }
  counted_ = std::move(counted);
  told_ = std::move(told);
  since_ = now - kLate;
  if (first) return std::nullopt;
  return news;
}

}  // namespace errand::detail
