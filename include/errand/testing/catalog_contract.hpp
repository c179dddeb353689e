#pragma once

#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// TaskCatalog: what operators see.
class CatalogContract : public EngineContract {
 protected:
  static std::int64_t count_of(const TaskStats& stats, TaskStatus status) {
    return stats.tasks[static_cast<std::size_t>(status)];
  }

  static std::optional<QueueStats> stats_of(const TaskStats& stats, const std::string& queue) {
    for (const QueueStats& entry : stats.queues) {
      if (entry.queue == queue) return entry;
    }
    return std::nullopt;
  }

  static std::vector<TaskId> ids_of(const TaskPage& page) {
    std::vector<TaskId> ids;
    for (const TaskRecord& item : page.items) ids.push_back(item.data.id);
    return ids;
  }
};

TEST_P(CatalogContract, AnUnknownTaskIsNotFound) {
  EXPECT_EQ(catalog().find(TaskId::generate()), std::nullopt);
}

TEST_P(CatalogContract, AnEmptyCatalogHasAnEmptyPage) {
  const TaskPage page = catalog().list({}, {});
  EXPECT_TRUE(page.items.empty());
  EXPECT_EQ(page.total, 0);
  EXPECT_EQ(page.total_pages(), 0);
}

TEST_P(CatalogContract, TheListShowsWhatFindShows) {
  const NewTask task = new_task("mail", 3);
  submit(task);
  const Claim claim = claim_one("mail");
  const ProgressReport report{claim.lease, Progress{1, 2, "half"}};
  queue().report_progress({&report, 1});
  const TaskRecord found = record(task.id);
  const TaskPage page = catalog().list({}, {});
  ASSERT_EQ(page.items.size(), 1U);
  const TaskRecord& listed = page.items.front();
  EXPECT_EQ(listed.data, found.data);
  EXPECT_EQ(listed.type, found.type);
  EXPECT_EQ(listed.queue, found.queue);
  EXPECT_EQ(listed.priority, found.priority);
  EXPECT_EQ(listed.available_at, found.available_at);
  EXPECT_EQ(listed.attempts, found.attempts);
  EXPECT_EQ(listed.crashes, found.crashes);
  EXPECT_EQ(listed.retry, found.retry);
  EXPECT_EQ(listed.worker, found.worker);
  EXPECT_EQ(listed.lease_expires_at, found.lease_expires_at);
  EXPECT_EQ(listed.progress, found.progress);
  EXPECT_EQ(listed.progress, report.progress);
}

TEST_P(CatalogContract, FiltersAndTheirCombinationsSelectWhatFits) {
  const std::vector<std::string> types{"email.send", "email.parse"};
  const std::vector<std::string> queues{"fast", "slow"};
  std::vector<TaskRecord> all;
  for (const TaskStatus status : {TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled,
                                  TaskStatus::running, TaskStatus::retrying}) {
    for (const std::string& type : types) {
      for (const std::string& queue : queues) {
        all.push_back(record(task_in(status, new_task_of_type(type, queue))));
      }
    }
  }
  for (const std::string& type : types) {
    for (const std::string& queue : queues) {
      all.push_back(record(submit(new_task_of_type(type, queue))));
    }
  }

  const std::vector<std::vector<TaskStatus>> status_filters{
      {},
      {TaskStatus::pending},
      {TaskStatus::running},
      {TaskStatus::retrying},
      {TaskStatus::completed},
      {TaskStatus::failed},
      {TaskStatus::cancelled},
      {TaskStatus::failed, TaskStatus::cancelled},
      {kAllTaskStatuses.begin(), kAllTaskStatuses.end()}};
  const std::vector<std::optional<std::string>> type_filters{std::nullopt, "email.send",
                                                             "email.parse", "email"};
  const std::vector<std::optional<std::string>> queue_filters{std::nullopt, "fast", "slow", "none"};
  for (const auto& statuses : status_filters) {
    for (const auto& type : type_filters) {
      for (const auto& queue : queue_filters) {
        std::vector<TaskId> expected;
        for (const TaskRecord& task : all) {
          const bool fits = (statuses.empty() || std::find(statuses.begin(), statuses.end(),
                                                           task.data.status) != statuses.end()) &&
                            (!type || task.type == *type) && (!queue || task.queue == queue);
          if (fits) expected.push_back(task.data.id);
        }
        PageRequest request;
        request.page_size = 100;
        const TaskPage page = catalog().list({statuses, type, queue}, request);
        EXPECT_EQ(page.total, static_cast<std::int64_t>(expected.size()));
        EXPECT_THAT(ids_of(page), ::testing::UnorderedElementsAreArray(expected))
            << "statuses: " << ::testing::PrintToString(statuses)
            << ", type: " << type.value_or("any") << ", queue: " << queue.value_or("any");
      }
    }
  }
}

TEST_P(CatalogContract, TheNewestSubmitIsListedFirst) {
  std::vector<TaskId> ids;
  for (int i = 0; i < 5; ++i) {
    ids.insert(ids.begin(), submit(new_task(kDefaultQueue, i % 3)));
    pass(std::chrono::milliseconds{1});
  }
  EXPECT_EQ(ids_of(catalog().list({}, {})), ids);
  EXPECT_EQ(ids_of(catalog().list({{TaskStatus::pending}, "contract.task", kDefaultQueue}, {})),
            ids);
}

TEST_P(CatalogContract, PagesDivideTheList) {
  std::vector<TaskId> newest_first;
  for (int i = 0; i < 45; ++i) {
    newest_first.insert(newest_first.begin(), submit());
    pass(std::chrono::milliseconds{1});
  }
  std::vector<TaskId> listed;
  for (std::int64_t number = 1; number <= 4; ++number) {
    PageRequest request;
    request.page = number;
    request.page_size = 20;
    const TaskPage page = catalog().list({}, request);
    EXPECT_EQ(page.total, 45);
    EXPECT_EQ(page.total_pages(), 3);
    EXPECT_EQ(page.page, number);
    EXPECT_EQ(page.page_size, 20);
    const std::vector<TaskId> ids = ids_of(page);
    EXPECT_EQ(ids.size(), number <= 2 ? 20U : number == 3 ? 5U : 0U);
    listed.insert(listed.end(), ids.begin(), ids.end());
  }
  EXPECT_EQ(listed, newest_first);
}

/// Also where many tasks came in one batch, at the same time: no task is on two pages.
TEST_P(CatalogContract, PagesDivideTheTasksOfOneMoment) {
  const std::vector<TaskId> submitted = submit_many(50);
  std::vector<TaskId> listed;
  for (std::int64_t number = 1; number <= 5; ++number) {
    PageRequest request;
    request.page = number;
    request.page_size = 10;
    const std::vector<TaskId> ids = ids_of(catalog().list({}, request));
    EXPECT_EQ(ids.size(), 10U);
    listed.insert(listed.end(), ids.begin(), ids.end());
  }
  EXPECT_THAT(listed, ::testing::UnorderedElementsAreArray(submitted));
}

TEST_P(CatalogContract, APageFarPastTheEndIsEmpty) {
  submit();
  PageRequest request;
  request.page = std::numeric_limits<std::int64_t>::max();
  const TaskPage page = catalog().list({}, request);
  EXPECT_TRUE(page.items.empty());
  EXPECT_EQ(page.total, 1);
}

TEST_P(CatalogContract, AStatusNamedTwiceIsListedOnce) {
  submit();
  EXPECT_EQ(catalog().list({{TaskStatus::pending, TaskStatus::pending}, {}, {}}, {}).items.size(),
            1U);
}

TEST_P(CatalogContract, DocumentsAreLeftOutOnRequest) {
  const TaskId completed = task_in(TaskStatus::completed, new_task("a"));
  const TaskId failed = task_in(TaskStatus::failed, new_task("b"));
  PageRequest request;
  const TaskPage with = catalog().list({}, request);
  request.documents = false;
  const TaskPage without = catalog().list({}, request);
  ASSERT_EQ(with.items.size(), 2U);
  ASSERT_EQ(without.items.size(), 2U);
  for (const TaskRecord& task : with.items) {
    EXPECT_TRUE(task.data.payload.has_value());
    EXPECT_EQ(task.data.result.has_value(), task.data.id == completed);
    EXPECT_EQ(task.data.error.has_value(), task.data.id == failed);
    EXPECT_EQ(task.history.has_value(), task.data.id == failed);
  }
  for (const TaskRecord& task : without.items) {
    EXPECT_EQ(task.data.payload, std::nullopt);
    EXPECT_EQ(task.data.result, std::nullopt);
    EXPECT_EQ(task.data.error, std::nullopt);
    EXPECT_EQ(task.history, std::nullopt);
    EXPECT_EQ(task.type, "contract.task");
    EXPECT_TRUE(task.data.completed_at.has_value());
    EXPECT_EQ(task.data.version, version(task.data.id));
  }
}

TEST_P(CatalogContract, ErrorsCanBeListedWithoutTheOtherDocuments) {
  task_in(TaskStatus::completed, new_task("a"));
  const TaskId failed = task_in(TaskStatus::failed, new_task("b"));
  const std::optional<std::string> error = catalog().find(failed)->data.error;
  ASSERT_TRUE(error.has_value());
  PageRequest request;
  request.documents = false;
  request.errors = true;
  const TaskPage page = catalog().list({}, request);
  ASSERT_EQ(page.items.size(), 2U);
  for (const TaskRecord& task : page.items) {
    EXPECT_EQ(task.data.error, task.data.id == failed ? error : std::nullopt);
    EXPECT_EQ(task.data.payload, std::nullopt);
    EXPECT_EQ(task.data.result, std::nullopt);
    EXPECT_EQ(task.history, std::nullopt);
  }
}

TEST_P(CatalogContract, ManyTasksAreFoundAtOnce) {
  std::vector<TaskId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(submit(new_task("mail")));
  ids.push_back(task_in(TaskStatus::failed, new_task("b")));
  std::vector<TaskId> asked = ids;
  asked.push_back(TaskId::generate());
  std::vector<TaskId> found;
  for (const TaskRecord& task : catalog().find_all(asked)) {
    found.push_back(task.data.id);
    EXPECT_EQ(task.data.status, catalog().find(task.data.id)->data.status);
    EXPECT_EQ(task.data.payload, std::nullopt);
    EXPECT_EQ(task.data.error, std::nullopt);
  }
  std::sort(ids.begin(), ids.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, ids);
  EXPECT_TRUE(catalog().find_all({}).empty());
}

TEST_P(CatalogContract, RecordsThatWereNeverQueuedAreListedWithoutAQueue) {
  const TaskData saved = record_in(TaskStatus::running, now());
  storage().save(saved);
  const TaskPage page = catalog().list({}, {});
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items.front().data.id, saved.id);
  EXPECT_EQ(page.items.front().type, "");
  EXPECT_EQ(page.items.front().queue, std::nullopt);
  EXPECT_EQ(catalog().list({{}, {}, kDefaultQueue}, {}).total, 0);
}

TEST_P(CatalogContract, StatsOfAnEmptyStorageAreZero) {
  const TaskStats stats = catalog().stats();
  EXPECT_THAT(stats.tasks, ::testing::Each(0));
  EXPECT_TRUE(stats.queues.empty());
}

TEST_P(CatalogContract, StatsCountTasksByStatus) {
  int number = 0;
  for (const TaskStatus status : {TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled,
                                  TaskStatus::running, TaskStatus::retrying}) {
    ++number;
    for (int i = 0; i < number; ++i) task_in(status);
  }
  submit_many(6);
  storage().save(record_in(TaskStatus::completed, now()));
  const TaskStats stats = catalog().stats();
  EXPECT_EQ(count_of(stats, TaskStatus::completed), 1 + 1);
  EXPECT_EQ(count_of(stats, TaskStatus::failed), 2);
  EXPECT_EQ(count_of(stats, TaskStatus::cancelled), 3);
  EXPECT_EQ(count_of(stats, TaskStatus::running), 4);
  EXPECT_EQ(count_of(stats, TaskStatus::retrying), 5);
  EXPECT_EQ(count_of(stats, TaskStatus::pending), 6);
}

TEST_P(CatalogContract, StatsTellForEachQueueWhatIsDueDelayedAndRunning) {
  task_in(TaskStatus::running, new_task("busy"));
  task_in(TaskStatus::running, new_task("busy"));
  task_in(TaskStatus::retrying, new_task("busy"));
  submit(new_task("busy", 0, std::chrono::hours{3}));
  submit_many(3, "busy");
  submit_many(1, "calm");
  const TaskStats stats = catalog().stats();
  ASSERT_EQ(stats.queues.size(), 2U);
  EXPECT_EQ(stats.queues[0].queue, "busy");
  EXPECT_EQ(stats.queues[0].due, 3);
  EXPECT_EQ(stats.queues[0].delayed, 2);
  EXPECT_EQ(stats.queues[0].running, 2);
  EXPECT_FALSE(stats.queues[0].paused);
  EXPECT_EQ(stats.queues[1].queue, "calm");
  EXPECT_EQ(stats.queues[1].due, 1);
  EXPECT_EQ(stats.queues[1].delayed, 0);
  EXPECT_EQ(stats.queues[1].running, 0);

  pass(std::chrono::hours{2});
  EXPECT_EQ(stats_of(catalog().stats(), "busy")->due, 4);
  EXPECT_EQ(stats_of(catalog().stats(), "busy")->delayed, 1);
}

TEST_P(CatalogContract, StatsTellHowLongTheFirstDueTaskWaits) {
  using std::chrono::hours;
  submit(new_task("mail", 0, hours{5}));
  EXPECT_EQ(stats_of(catalog().stats(), "mail")->oldest_due, std::nullopt);
  pass(hours{6});
  submit(new_task("mail"));
  pass(hours{2});
  const std::optional<QueueStats> stats = stats_of(catalog().stats(), "mail");
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->due, 2);
  ASSERT_TRUE(stats->oldest_due.has_value());
  EXPECT_GE(*stats->oldest_due, hours{3});
  EXPECT_LE(*stats->oldest_due, hours{3} + drift());
}

TEST_P(CatalogContract, StatsShowQueuesThatAreOpenOrPaused) {
  task_in(TaskStatus::completed, new_task("done"));
  storage().save(record_in(TaskStatus::pending, now()));
  EXPECT_TRUE(catalog().stats().queues.empty());

  pause("done");
  pause("never used");
  submit(new_task("open"));
  const TaskStats stats = catalog().stats();
  ASSERT_EQ(stats.queues.size(), 3U);
  EXPECT_EQ(stats.queues[0].queue, "done");
  EXPECT_TRUE(stats.queues[0].paused);
  EXPECT_EQ(stats.queues[1].queue, "never used");
  EXPECT_TRUE(stats.queues[1].paused);
  EXPECT_EQ(stats.queues[1].due, 0);
  EXPECT_EQ(stats.queues[1].running, 0);
  EXPECT_EQ(stats.queues[2].queue, "open");
  EXPECT_FALSE(stats.queues[2].paused);

  resume("never used");
  EXPECT_EQ(stats_of(catalog().stats(), "never used"), std::nullopt);
}

TEST_P(CatalogContract, APageContinuesBehindTheOneBeforeWhateverWasSubmittedMeanwhile) {
  std::vector<TaskId> submitted;
  for (int i = 0; i < 7; ++i) submitted.push_back(submit(new_task("mail")));
  std::vector<TaskId> listed;
  PageRequest request{.page = 1, .page_size = 3, .documents = false};
  while (true) {
    const TaskPage page = catalog().list({}, request);
    for (const TaskId id : ids_of(page)) listed.push_back(id);
    submit(new_task("mail"));
    if (!page.next) break;
    request.after = page.next;
  }
  std::reverse(submitted.begin(), submitted.end());
  EXPECT_EQ(listed, submitted);
}

TEST_P(CatalogContract, ThePagesOfEveryFilterContinue) {
  std::vector<TaskId> expected;
  for (int i = 0; i < 5; ++i) {
    expected.insert(expected.begin(), submit(new_task_of_type("email.send", "fast")));
    submit(new_task_of_type("email.parse", "fast"));
    submit(new_task_of_type("email.send", "slow"));
  }
  const TaskFilter filter{{TaskStatus::pending}, "email.send", "fast"};
  for (const bool count : {true, false}) {
    std::vector<TaskId> listed;
    PageRequest request{.page = 1, .page_size = 2, .documents = false, .count = count};
    do {
      const TaskPage page = catalog().list(filter, request);
      EXPECT_EQ(page.total, count ? 5 : 0);
      for (const TaskId id : ids_of(page)) listed.push_back(id);
      request.after = page.next;
    } while (request.after);
    EXPECT_EQ(listed, expected) << "count: " << count;
  }
}

TEST_P(CatalogContract, TheLastPageHasNoNextAlthoughItIsFull) {
  for (int i = 0; i < 4; ++i) submit(new_task("mail"));
  const TaskPage first = catalog().list({}, {.page = 1, .page_size = 2});
  ASSERT_TRUE(first.next.has_value());
  EXPECT_EQ(catalog().list({}, {.page = 2, .page_size = 2}).next, std::nullopt);
  PageRequest behind{.page = 2, .page_size = 2};
  behind.after = first.next;
  EXPECT_EQ(catalog().list({}, behind).next, std::nullopt);
  EXPECT_EQ(catalog().list({}, behind).items.size(), 2U);
}

TEST_P(CatalogContract, WhatEndedIsCountedBySecondAndTheLastOfItListed) {
  // An engine whose clock cannot be moved has its times moved back instead.
  const Timestamp begin = now() - std::chrono::seconds{3};
  const TaskId completed = task_in(TaskStatus::completed);
  pass(std::chrono::milliseconds{5});
  const TaskId failed = task_in(TaskStatus::failed);
  pass(std::chrono::seconds{2});
  const TaskId cancelled = task_in(TaskStatus::cancelled);
  task_in(TaskStatus::pending);

  const EndedTasks ended = catalog().ended(begin - std::chrono::seconds{1}, 2);
  StatusCounts all{};
  for (std::size_t i = 0; i < ended.seconds.size(); ++i) {
    const EndedTasks::Second& second = ended.seconds[i];
    EXPECT_EQ(std::chrono::floor<std::chrono::seconds>(second.begin), second.begin);
    if (i > 0) {
      EXPECT_LT(ended.seconds[i - 1].begin, second.begin);
    }
    for (std::size_t status = 0; status < all.size(); ++status) all[status] += second.tasks[status];
  }
  EXPECT_GE(ended.seconds.size(), 2U);
  EXPECT_EQ(all, (StatusCounts{0, 0, 0, 1, 1, 1}));
  ASSERT_EQ(ended.latest.size(), 2U);
  EXPECT_EQ(ended.latest[0].data.id, cancelled);
  EXPECT_EQ(ended.latest[1].data.id, failed);
  EXPECT_EQ(ended.latest[1].data.error, std::nullopt) << "without documents";

  const EndedTasks last = catalog().ended(record(cancelled).data.completed_at.value(), 10);
  ASSERT_EQ(last.seconds.size(), 1U) << "the second of the moment belongs to it";
  EXPECT_EQ(last.seconds[0].begin,
            std::chrono::floor<std::chrono::seconds>(*record(cancelled).data.completed_at));
  queue().discard(std::vector{completed, failed});
  EXPECT_EQ(catalog().ended(begin - std::chrono::seconds{1}, 0).seconds.size(), 1U);
  EXPECT_TRUE(catalog().ended(begin - std::chrono::seconds{1}, 0).latest.empty());
  EXPECT_TRUE(catalog().ended(now() + std::chrono::seconds{2}, 10).seconds.empty());
}

TEST_P(CatalogContract, AClaimSaysSinceWhenItsTaskWasDue) {
  NewTask task = new_task("mail");
  task.delay = std::chrono::seconds{5};
  submit(task);
  pass(std::chrono::seconds{6});
  const Timestamp due = record(task.id).available_at.value();
  EXPECT_EQ(claim_one("mail").available_at, due);
}

}  // namespace errand::testing
