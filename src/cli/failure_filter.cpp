#include "cli/failure_filter.hpp"

#include <utility>

#include "cli/found_tasks.hpp"
#include "cli/options.hpp"

namespace errand::cli {

bool FailureFilter::narrows() const noexcept {
  return !page.type.empty() || !page.queue.empty() || !error_class.empty();
}

bool FailureFilter::chooses(const TaskRecord& task) const {
  return error_class.empty() || error_of(task).class_name == error_class;
}

void add_failure_filter(CLI::App& command, FailureFilter& filter) {
  add_filter(command, filter.page);
  add_text(command, "--class", filter.error_class, "NAME",
           "Only errors of this class, as failed list --stats names it")
      .not_empty();
}

ExceptionData error_of(const TaskRecord& task) {
  return parse_exception_data(task.data.error.value_or(""));
}

std::int64_t count_failures(TaskCatalog& catalog, const FailureFilter& filter) {
  if (filter.error_class.empty()) {
    return catalog.list(filter.tasks(), {.page = 1, .page_size = 1, .documents = false}).total;
  }
  std::int64_t count = 0;
  for_each_found(catalog, filter.tasks(),
                 [&](const TaskRecord& task) { count += filter.chooses(task) ? 1 : 0; });
  return count;
}

TaskPage list_failures(TaskCatalog& catalog, const FailureFilter& filter) {
  const PageOptions& wanted = filter.page;
  if (filter.error_class.empty()) {
    return catalog.list(filter.tasks(), {.page = wanted.page, .page_size = wanted.page_size});
  }
  TaskPage page{.items = {}, .total = 0, .page = wanted.page, .page_size = wanted.page_size};
  for_each_found(catalog, filter.tasks(), [&](TaskRecord& task) {
    if (!filter.chooses(task)) return;
    if (page.total / page.page_size == page.page - 1) page.items.push_back(std::move(task));
    ++page.total;
  });
  return page;
}

}  // namespace errand::cli
