#pragma once

#include <cstdint>
#include <string>

#include "errand/exception_data.hpp"
#include "errand/task_catalog.hpp"

#include "cli/page_options.hpp"
#include "terminal/cli11_fwd.hpp"

/// Which of the failed tasks.
namespace errand::cli {

struct FailureFilter {
  PageOptions page;
  std::string error_class;  ///< empty: any

  [[nodiscard]] bool narrows() const noexcept;
  [[nodiscard]] TaskFilter tasks() const { return page.filter({TaskStatus::failed}); }

  /// Storages do not look into errors: whoever goes through tasks() asks this of each.
  [[nodiscard]] bool chooses(const TaskRecord& task) const;
};

/// --type, --queue and --class.
void add_failure_filter(CLI::App& command, FailureFilter& filter);

[[nodiscard]] ExceptionData error_of(const TaskRecord& task);

[[nodiscard]] std::int64_t count_failures(TaskCatalog& catalog, const FailureFilter& filter);

/// The page that `filter.page` asks for.
[[nodiscard]] TaskPage list_failures(TaskCatalog& catalog, const FailureFilter& filter);

}  // namespace errand::cli
