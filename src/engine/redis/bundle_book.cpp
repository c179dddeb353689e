#include "engine/redis/bundle_book.hpp"

namespace errand::redis {

void BundleBook::note(TaskId id, std::int64_t bundle) {
  const std::scoped_lock lock{mutex_};
  if (bundles_.size() >= kMost) bundles_.clear();
  bundles_[id] = bundle;
}

std::optional<std::int64_t> BundleBook::take(TaskId id) {
  const std::scoped_lock lock{mutex_};
  const auto found = bundles_.find(id);
  if (found == bundles_.end()) return std::nullopt;
  const std::int64_t bundle = found->second;
  bundles_.erase(found);
  return bundle;
}

}  // namespace errand::redis
