#include "http/totals.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace errand::http {
namespace {

/// Counts how often it is asked, and takes its time.
class SlowCatalog final : public TaskCatalog {
 public:
  std::optional<TaskRecord> find(TaskId) override { return std::nullopt; }
  std::vector<TaskRecord> find_all(std::span<const TaskId>) override { return {}; }
  TaskPage list(const TaskFilter&, const PageRequest&) override {
    const auto until = std::chrono::steady_clock::now() + work;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    TaskPage page;
    page.total = ++counted;
    return page;
  }
  TaskStats stats() override { return {}; }
  EndedTasks ended(Timestamp, std::size_t) override { return {}; }

  std::chrono::milliseconds work{0};
  int counted = 0;
};

TEST(Totals, ATotalThatWasExpensiveIsKeptForAWhile) {
  SlowCatalog catalog;
  catalog.work = std::chrono::milliseconds{50};
  Totals totals;
  EXPECT_EQ(totals.count(catalog, {}), 1);
  EXPECT_EQ(totals.count(catalog, {}), 1);
  EXPECT_EQ(totals.count(catalog, {{TaskStatus::failed}, {}, {}}), 2);
  EXPECT_EQ(totals.count(catalog, {{}, "failed", {}}), 3);
  EXPECT_EQ(totals.count(catalog, {{}, {}, "failed"}), 4);
}

}  // namespace
}  // namespace errand::http
