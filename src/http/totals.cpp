#include "http/totals.hpp"

#include <algorithm>

namespace errand::http {
namespace {

constexpr int kIdleParts = 10;
constexpr std::chrono::seconds kOldest{10};
constexpr std::size_t kMostFilters = 1000;

std::string key_of(const TaskFilter& filter) {
  std::string key;
  for (const TaskStatus status : filter.statuses)
    key += static_cast<char>('a' + static_cast<int>(status));
  // Neither name holds a control character.
  key += '\n' + filter.type.value_or("\t") + '\n' + filter.queue.value_or("\t");
  return key;
}

}  // namespace

std::int64_t Totals::count(TaskCatalog& catalog, const TaskFilter& filter) {
  const std::string key = key_of(filter);
  const auto begin = Steady::now();
  {
    const std::lock_guard lock{mutex_};
    const auto known = totals_.find(key);
    if (known != totals_.end() && begin < known->second.good_until) return known->second.value;
  }
  const std::int64_t value =
      catalog.list(filter, {.page = 1, .page_size = 1, .documents = false}).total;
  const auto end = Steady::now();
  const std::lock_guard lock{mutex_};
  if (totals_.size() >= kMostFilters) totals_.clear();
  totals_[key] = {value, end + std::min<Steady::duration>(kIdleParts * (end - begin), kOldest)};
  return value;
}

}  // namespace errand::http
