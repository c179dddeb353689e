#pragma once

#include <array>
#include <chrono>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/task_storage.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// TaskStorage: records saved, loaded, moved and deleted one by one.
class StorageContract : public EngineContract {
 protected:
  TaskData saved(const TaskData& task) {
    storage().save(task);
    return loaded(task.id);
  }

  TaskData loaded(TaskId id) {
    std::optional<TaskData> task = storage().load(id);
    if (!task) throw std::runtime_error{"nothing to load under " + id.to_string()};
    return *std::move(task);
  }

  /// A running record whose writer stored the outcome first, so that it can become `next`.
  static TaskData running_towards(TaskStatus next, Timestamp now) {
    TaskData task = record_in(TaskStatus::running, now);
    if (next == TaskStatus::completed) task.result = R"({"ok":true})";
    if (next == TaskStatus::failed) task.error = to_json(error_named("std::runtime_error"));
    return task;
  }

  static TaskData without_version(TaskData task) {
    task.version.reset();
    return task;
  }
};

TEST_P(StorageContract, ANewRecordCanBeLoaded) {
  const TaskData task = TaskData::pending(TaskId::generate(), R"({"to":"a@b.c"})", now());
  storage().save(task);
  const TaskData found = loaded(task.id);
  EXPECT_EQ(found.id, task.id);
  EXPECT_EQ(found.status, TaskStatus::pending);
  EXPECT_EQ(without_version(found), task);
}

TEST_P(StorageContract, SavingAnExistingRecordReplacesIt) {
  TaskData task = record_in(TaskStatus::pending, now());
  storage().save(task);
  task.start(now());
  storage().save(task);
  EXPECT_EQ(without_version(loaded(task.id)), task);
  EXPECT_EQ(task_count(), 1);
}

TEST_P(StorageContract, EveryStatusIsKeptWithAllItsFields) {
  for (const TaskStatus status : kAllTaskStatuses) {
    const TaskData task = record_in(status, now());
    EXPECT_EQ(without_version(saved(task)), task) << to_string(status);
  }
}

TEST_P(StorageContract, LoadingAnUnknownIdGivesNothing) {
  EXPECT_EQ(storage().load(TaskId::generate()), std::nullopt);
}

TEST_P(StorageContract, RecordsSurviveReopening) {
  const TaskData task = saved(record_in(TaskStatus::running, now()));
  reopen();
  EXPECT_EQ(loaded(task.id), task);
}

TEST_P(StorageContract, RecordsAreSeenByOtherEngines) {
  const std::unique_ptr<Engine> other = open_another();
  const TaskData task = saved(record_in(TaskStatus::running, now()));
  EXPECT_EQ(other->storage().load(task.id), task);
}

TEST_P(StorageContract, TimesAreKeptToTheMicrosecond) {
  TaskData task = record_in(TaskStatus::completed, now());
  task.submitted_at += std::chrono::microseconds{123'456};
  *task.started_at += std::chrono::microseconds{1};
  *task.completed_at += std::chrono::microseconds{999'999};
  EXPECT_EQ(without_version(saved(task)), task);
}

TEST_P(StorageContract, NoPayloadAndAnEmptyPayloadAreNotTheSame) {
  const Timestamp time = now();
  const TaskData none = TaskData::pending(TaskId::generate(), std::nullopt, time);
  const TaskData empty = TaskData::pending(TaskId::generate(), "", time);
  EXPECT_EQ(saved(none).payload, std::nullopt);
  EXPECT_EQ(saved(empty).payload, "");
}

TEST_P(StorageContract, EachSaveRaisesTheVersionByOne) {
  TaskData task = record_in(TaskStatus::pending, now());
  const std::optional<std::int64_t> first = saved(task).version;
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(saved(task).version, *first + 1);
  EXPECT_EQ(saved(task).version, *first + 2);
}

TEST_P(StorageContract, TheLoadedVersionCanBeSaved) {
  TaskData task = saved(record_in(TaskStatus::pending, now()));
  task.start(now());
  storage().save(task);
  EXPECT_EQ(loaded(task.id).status, TaskStatus::running);
}

TEST_P(StorageContract, SavingAStaleVersionIsAConcurrentModification) {
  TaskData mine = saved(record_in(TaskStatus::pending, now()));
  TaskData theirs = mine;
  theirs.start(now());
  const TaskData stored = saved(theirs);
  mine.cancel(now());
  EXPECT_THROW(storage().save(mine), ConcurrentModificationException);
  EXPECT_EQ(loaded(mine.id), stored);
}

TEST_P(StorageContract, SavingAVersionThatIsNotThereYetIsAConcurrentModification) {
  const TaskData stored = saved(record_in(TaskStatus::pending, now()));
  TaskData task = stored;
  ++*task.version;
  EXPECT_THROW(storage().save(task), ConcurrentModificationException);
  EXPECT_EQ(loaded(task.id), stored);
}

TEST_P(StorageContract, SavingAVersionOfAMissingRecordIsAConcurrentModification) {
  TaskData task = saved(record_in(TaskStatus::pending, now()));
  storage().remove(task.id);
  EXPECT_THROW(storage().save(task), ConcurrentModificationException);
  EXPECT_EQ(storage().load(task.id), std::nullopt);
}

TEST_P(StorageContract, AnInvalidRecordIsRefusedAndNothingIsStored) {
  struct Case {
    const char* rule;
    TaskStatus status;
    void (*damage)(TaskData&);
  };
  using S = TaskStatus;
  const std::array cases{
      Case{"completed needs a result", S::completed, [](TaskData& t) { t.result.reset(); }},
      Case{"completed has no error", S::completed, [](TaskData& t) { t.error = "{}"; }},
      Case{"failed needs an error", S::failed, [](TaskData& t) { t.error.reset(); }},
      Case{"failed has no result", S::failed, [](TaskData& t) { t.result = "{}"; }},
      Case{"cancelled has no result", S::cancelled, [](TaskData& t) { t.result = "{}"; }},
      Case{"cancelled has no error", S::cancelled, [](TaskData& t) { t.error = "{}"; }},
      Case{"pending has no result", S::pending, [](TaskData& t) { t.result = "{}"; }},
      Case{"retrying has no error", S::retrying, [](TaskData& t) { t.error = "{}"; }},
      Case{"pending has not started", S::pending,
           [](TaskData& t) { t.started_at = t.submitted_at; }},
      Case{"running has started", S::running, [](TaskData& t) { t.started_at.reset(); }},
      Case{"retrying has started", S::retrying, [](TaskData& t) { t.started_at.reset(); }},
      Case{"completed has started", S::completed, [](TaskData& t) { t.started_at.reset(); }},
      Case{"failed has started", S::failed, [](TaskData& t) { t.started_at.reset(); }},
      Case{"completed has ended", S::completed, [](TaskData& t) { t.completed_at.reset(); }},
      Case{"cancelled has ended", S::cancelled, [](TaskData& t) { t.completed_at.reset(); }},
      Case{"running has not ended", S::running, [](TaskData& t) { t.completed_at = t.started_at; }},
      Case{"it starts after its submit", S::running,
           [](TaskData& t) { t.started_at = t.submitted_at - std::chrono::microseconds{1}; }},
      Case{"it ends after its start", S::completed,
           [](TaskData& t) { t.completed_at = *t.started_at - std::chrono::microseconds{1}; }},
      Case{"the payload has no NUL", S::pending, [](TaskData& t) { t.payload->push_back('\0'); }},
      Case{"the result is UTF-8", S::completed, [](TaskData& t) { t.result = "\"\xff\""; }},
  };
  for (const Case& broken : cases) {
    const TaskData good = record_in(broken.status, now());
    TaskData bad = good;
    broken.damage(bad);
    EXPECT_THROW(storage().save(bad), ValidationException) << broken.rule;
    EXPECT_EQ(storage().load(bad.id), std::nullopt) << broken.rule;

    const TaskData stored = saved(good);
    EXPECT_THROW(storage().save(bad), ValidationException) << broken.rule;
    EXPECT_EQ(loaded(good.id), stored) << broken.rule;
  }
}

TEST_P(StorageContract, MovingToRunningSetsTheStart) {
  const TaskData before = saved(record_in(TaskStatus::pending, now()));
  storage().update_status(before.id, TaskStatus::running);
  const TaskData after = loaded(before.id);
  EXPECT_EQ(after.status, TaskStatus::running);
  EXPECT_TRUE(is_about(after.started_at, now()));
  EXPECT_EQ(after.completed_at, std::nullopt);
}

TEST_P(StorageContract, MovingToAFinalStatusSetsTheCompletion) {
  for (const TaskStatus final_status :
       {TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled}) {
    const TaskData before = saved(running_towards(final_status, now()));
    storage().update_status(before.id, final_status);
    const TaskData after = loaded(before.id);
    EXPECT_EQ(after.status, final_status);
    EXPECT_TRUE(is_about(after.completed_at, now())) << to_string(final_status);
    EXPECT_EQ(after.started_at, before.started_at) << to_string(final_status);
  }
}

TEST_P(StorageContract, MovingTheStatusChangesNothingElse) {
  const TaskData before = saved(record_in(TaskStatus::pending, now()));
  storage().update_status(before.id, TaskStatus::running);
  TaskData expected = before;
  expected.status = TaskStatus::running;
  expected.started_at = loaded(before.id).started_at;
  expected.version = *before.version + 1;
  EXPECT_EQ(loaded(before.id), expected);
}

TEST_P(StorageContract, MovingAnUnknownTaskSaysSo) {
  const TaskId id = TaskId::generate();
  try {
    storage().update_status(id, TaskStatus::running);
    FAIL() << "no exception";
  } catch (const TaskNotFoundException& error) {
    EXPECT_EQ(error.id(), id);
  }
}

TEST_P(StorageContract, EveryStepThatTheTableForbidsIsAConcurrentModification) {
  for (const TaskStatus from : kAllTaskStatuses) {
    for (const TaskStatus to : kAllTaskStatuses) {
      if (can_become(from, to)) continue;
      const TaskData before = saved(record_in(from, now()));
      EXPECT_THROW(storage().update_status(before.id, to), ConcurrentModificationException)
          << to_string(from) << " to " << to_string(to);
      EXPECT_EQ(loaded(before.id), before) << to_string(from) << " to " << to_string(to);
    }
  }
}

/// A step that would leave a record against the rules is refused, although the table has it: a
/// failed record cannot become pending by its status alone, because its error would stay.
TEST_P(StorageContract, EveryStepThatTheTableAllowsIsTakenUnlessTheRecordWouldBreakARule) {
  for (const TaskStatus from : kAllTaskStatuses) {
    for (const TaskStatus to : kAllTaskStatuses) {
      if (!can_become(from, to)) continue;
      SCOPED_TRACE(std::string{to_string(from)} + " to " + std::string{to_string(to)});
      const TaskData before =
          saved(from == TaskStatus::running ? running_towards(to, now()) : record_in(from, now()));
      TaskData expected = before;
      expected.status = to;
      if (to == TaskStatus::running) expected.started_at = now();
      if (to == TaskStatus::pending) expected.started_at.reset();
      expected.completed_at = is_final(to) ? std::optional{now()} : std::nullopt;
      bool allowed = true;
      try {
        validate(expected);
      } catch (const ValidationException&) {
        allowed = false;
      }
      if (allowed) {
        EXPECT_NO_THROW(storage().update_status(before.id, to));
        EXPECT_EQ(loaded(before.id).status, to);
        EXPECT_EQ(loaded(before.id).version, *before.version + 1);
      } else {
        EXPECT_THROW(storage().update_status(before.id, to), ValidationException);
        EXPECT_EQ(loaded(before.id), before);
      }
    }
  }
}

TEST_P(StorageContract, ARunningRecordCompletesOnlyWithItsResult) {
  const TaskData bare = saved(record_in(TaskStatus::running, now()));
  EXPECT_THROW(storage().update_status(bare.id, TaskStatus::completed), ValidationException);
  EXPECT_THROW(storage().update_status(bare.id, TaskStatus::failed), ValidationException);
  EXPECT_EQ(loaded(bare.id), bare);

  const TaskData done = saved(running_towards(TaskStatus::completed, now()));
  EXPECT_THROW(storage().update_status(done.id, TaskStatus::failed), ValidationException);
  EXPECT_THROW(storage().update_status(done.id, TaskStatus::cancelled), ValidationException);
  EXPECT_EQ(loaded(done.id), done);
  storage().update_status(done.id, TaskStatus::completed);
  EXPECT_EQ(loaded(done.id).result, done.result);
}

TEST_P(StorageContract, MovingFromAnotherVersionIsAConcurrentModification) {
  const TaskData task = saved(record_in(TaskStatus::pending, now()));
  EXPECT_THROW(storage().update_status(task.id, TaskStatus::running, *task.version + 1),
               ConcurrentModificationException);
  EXPECT_THROW(storage().update_status(task.id, TaskStatus::running, *task.version - 1),
               ConcurrentModificationException);
  EXPECT_EQ(loaded(task.id), task);
  storage().update_status(task.id, TaskStatus::running, *task.version);
  EXPECT_EQ(loaded(task.id).status, TaskStatus::running);
}

TEST_P(StorageContract, ARemovedRecordIsGoneWhateverItsStatus) {
  for (const TaskStatus status : kAllTaskStatuses) {
    const TaskData task = saved(record_in(status, now()));
    storage().remove(task.id);
    EXPECT_EQ(storage().load(task.id), std::nullopt) << to_string(status);
  }
  EXPECT_EQ(task_count(), 0);
}

TEST_P(StorageContract, RemovingTwiceAndRemovingTheUnknownAreNoErrors) {
  const TaskData kept = saved(record_in(TaskStatus::pending, now()));
  const TaskData task = saved(record_in(TaskStatus::pending, now()));
  storage().remove(task.id);
  EXPECT_NO_THROW(storage().remove(task.id));
  EXPECT_NO_THROW(storage().remove(TaskId::generate()));
  EXPECT_EQ(loaded(kept.id), kept);
}

TEST_P(StorageContract, ARemovedRecordCanBeSavedAgain) {
  const TaskData task = record_in(TaskStatus::pending, now());
  storage().save(task);
  storage().remove(task.id);
  EXPECT_EQ(without_version(saved(task)), task);
}

TEST_P(StorageContract, CleaningDeletesWhatWasCompletedStrictlyBefore) {
  const Timestamp before = now() - std::chrono::hours{1};
  const auto completed_at = [&](Timestamp time) {
    TaskData task = record_in(TaskStatus::completed, time - std::chrono::hours{1});
    task.completed_at = time;
    return saved(task).id;
  };
  const TaskId earlier = completed_at(before - std::chrono::microseconds{1});
  const TaskId at_once = completed_at(before);
  const TaskId later = completed_at(before + std::chrono::microseconds{1});
  EXPECT_EQ(storage().delete_expired_tasks(before), 1U);
  EXPECT_EQ(storage().load(earlier), std::nullopt);
  EXPECT_NE(storage().load(at_once), std::nullopt);
  EXPECT_NE(storage().load(later), std::nullopt);
}

TEST_P(StorageContract, CleaningDeletesFinalTasksOnly) {
  std::vector<TaskData> tasks;
  for (const TaskStatus status : kAllTaskStatuses) tasks.push_back(saved(record_in(status, now())));
  EXPECT_EQ(storage().delete_expired_tasks(now() + std::chrono::hours{1}), 3U);
  for (const TaskData& task : tasks) {
    EXPECT_EQ(storage().load(task.id).has_value(), !is_final(task.status))
        << to_string(task.status);
  }
}

TEST_P(StorageContract, CleaningGoesOnAfterItsFirstBatch) {
  const std::vector<TaskId> ids = submit_many(2 * TaskStorage::kExpiryBatch + 500);
  queue().cancel(ids);
  const TaskData kept = saved(record_in(TaskStatus::pending, now()));
  EXPECT_EQ(storage().delete_expired_tasks(now() + std::chrono::hours{1}), ids.size());
  EXPECT_EQ(task_count(), 1);
  EXPECT_EQ(loaded(kept.id), kept);
}

TEST_P(StorageContract, CleaningAnEmptyStorageDeletesNothing) {
  EXPECT_EQ(storage().delete_expired_tasks(now()), 0U);
}

TEST_P(StorageContract, RecordsThatWereNeverQueuedAreNotClaimed) {
  const TaskData pending = saved(record_in(TaskStatus::pending, now()));
  const TaskData retrying = saved(record_in(TaskStatus::retrying, now()));
  const TaskId queued = submit();
  const std::vector<Claim> claims = claim(10);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims.front().lease.id, queued);
  EXPECT_EQ(loaded(pending.id), pending);
  EXPECT_EQ(loaded(retrying.id), retrying);
}

TEST_P(StorageContract, RunningRecordsThatWereNeverClaimedAreNotRescued) {
  const TaskData task = saved(record_in(TaskStatus::running, now()));
  pass(std::chrono::hours{48});
  EXPECT_TRUE(rescue().empty());
  EXPECT_EQ(status(task.id), TaskStatus::running);
}

TEST_P(StorageContract, ASubmittedTaskCanBeLoadedAsARecord) {
  const TaskId id = submit(new_task_with_body(R"({"to":"a@b.c"})"));
  const TaskData task = loaded(id);
  EXPECT_EQ(task.status, TaskStatus::pending);
  EXPECT_EQ(task.payload, R"({"to":"a@b.c"})");
  EXPECT_TRUE(is_about(task.submitted_at, now()));
  EXPECT_EQ(task, record(id).data);
}

}  // namespace errand::testing
