#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/task_catalog.hpp"

#include "http/query.hpp"

/// Pages, and what they are made of.
namespace errand::http {

/// `page`, `page_size` and `cursor` of a request.
struct PageQuery {
  std::int64_t page = 1;
  std::int64_t page_size = 20;
  std::optional<std::int64_t> after{};  ///< of the cursor

  /// Throws Problem 400.
  [[nodiscard]] static PageQuery of(const Query& query, std::int64_t most = 1000);

  [[nodiscard]] PageRequest request(bool documents) const;
};

/// The JSON of a page, its items given as JSON.
[[nodiscard]] std::string page_json(const std::vector<std::string>& items, std::int64_t total,
                                    const PageQuery& query, std::optional<std::int64_t> next);

/// `status`, `type` and `queue` of a request, as far as it has them.
[[nodiscard]] TaskFilter filter_of(const Query& query);

/// {"taskId":…,"type":…,"queue":…,"status":…}
[[nodiscard]] std::string submitted_json(TaskId id, std::string_view type, std::string_view queue,
                                         TaskStatus status);

/// Throws TaskNotFoundException.
[[nodiscard]] TaskRecord find_task(TaskCatalog& catalog, TaskId id);

}  // namespace errand::http
