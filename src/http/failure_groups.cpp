#include "http/failure_groups.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "http/error_pattern.hpp"

namespace errand::http {

namespace json = boost::json;

void FailureGroups::add(Failure failure) {
  Group& group = groups_[Kind{std::move(failure.type), std::move(failure.error_class),
                              error_pattern(failure.message)}];
  ++group.count;
  const bool is_newest =
      failure.at > group.last || (failure.at == group.last && order_ == Order::oldest_first);
  if (group.count > 1 && !is_newest) return;
  group.last = failure.at;
  group.message = std::move(failure.message);
  group.id = std::move(failure.id);
}

std::string FailureGroups::to_json(std::string_view id_name, std::int64_t looked,
                                   std::int64_t total) const {
  std::vector<const decltype(groups_)::value_type*> sorted;
  for (const auto& entry : groups_) sorted.push_back(&entry);
  std::ranges::stable_sort(sorted, std::greater{},
                           [](const auto* entry) { return entry->second.count; });
  json::array items;
  for (const auto* entry : sorted) {
    const auto& [type, error_class, pattern] = entry->first;
    const Group& group = entry->second;
    items.push_back(json::object{{"type", type},
                                 {"class", error_class},
                                 {"pattern", pattern},
                                 {"message", group.message},
                                 {"count", group.count},
                                 {"lastFailedAt", to_iso8601(group.last)},
                                 {id_name, group.id}});
  }
  return json::serialize(
      json::object{{"items", std::move(items)}, {"looked", looked}, {"total", total}});
}

}  // namespace errand::http
