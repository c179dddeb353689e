#include "engine/postgres/bundles.hpp"

#include <utility>

namespace errand::postgres {

void Bundles::add(TaskId bundle, std::span<const Task> tasks) {
  const std::lock_guard lock{mutex_};
  if (tasks.empty()) {
    spent_.push_back(bundle);
    return;
  }
  const Number number = next_++;
  bundles_.emplace(number, Bundle{bundle, tasks.size()});
  for (const Task& task : tasks) {
    // An attempt of before, whose end nobody told.
    if (const auto earlier = tasks_.find(task.id); earlier != tasks_.end()) forget(earlier);
    tasks_.emplace(task.id, Entry{number, task.place});
  }
  if (bundles_.size() <= kMost) return;
  const Number oldest = bundles_.begin()->first;
  erase_if(tasks_, [&](const auto& task) { return task.second.bundle == oldest; });
  bundles_.erase(oldest);
}

std::vector<std::optional<Bundles::Spot>> Bundles::find(std::span<const Lease> leases) const {
  std::vector<std::optional<Spot>> spots(leases.size());
  const std::lock_guard lock{mutex_};
  if (tasks_.empty()) return spots;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (leases[i].version != kBundledVersion) continue;
    if (const auto found = tasks_.find(leases[i].id); found != tasks_.end()) {
      spots[i] = Spot{bundles_.at(found->second.bundle).id, found->second.place};
    }
  }
  return spots;
}

void Bundles::forget(std::span<const Lease> leases) {
  const std::lock_guard lock{mutex_};
  if (tasks_.empty()) return;
  for (const Lease& lease : leases) {
    if (lease.version != kBundledVersion) continue;
    if (const auto found = tasks_.find(lease.id); found != tasks_.end()) forget(found);
  }
}

void Bundles::forget(Tasks::iterator entry) {
  const auto bundle = bundles_.find(entry->second.bundle);
  tasks_.erase(entry);
  if (--bundle->second.left > 0) return;
  spent_.push_back(bundle->second.id);
  bundles_.erase(bundle);
}

std::vector<TaskId> Bundles::take_spent() {
  const std::lock_guard lock{mutex_};
  return std::exchange(spent_, {});
}

std::vector<TaskId> Bundles::take_last_spent() {
  const std::lock_guard lock{mutex_};
  if (!bundles_.empty()) return {};
  return std::exchange(spent_, {});
}

}  // namespace errand::postgres
