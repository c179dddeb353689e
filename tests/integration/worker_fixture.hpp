#pragma once

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "errand/tasks.hpp"
#include "errand/testing/fake_clock.hpp"
#include "errand/testing/printing.hpp"

#include "support/eventually.hpp"
#include "support/faulty_engine.hpp"
#include "support/milestone.hpp"
#include "support/recording_logger.hpp"
#include "support/running_worker.hpp"
#include "support/sqlite_file.hpp"

namespace errand::testing {

/// A worker on a storage of its own. Time passes when the test says so, except that the worker
/// itself looks at the storage every second or so of real time.
class WorkerTest : public ::testing::Test {
 protected:
  using Body = std::function<std::string(TaskContext&)>;

  /// One handler type is enough for most tests.
  static constexpr const char* kType = "a.task";

  void handle(Body body, const std::string& type = kType) {
    handlers.add_raw(
        type, [body = std::move(body)](const Envelope&, TaskContext& context) -> std::string {
          return body(context);
        });
  }

  [[nodiscard]] static WorkerOptions one_at_a_time() {
    WorkerOptions options;
    options.concurrency = 1;
    return options;
  }

  TaskHandle submit(const SubmitOptions& options = {}, const std::string& type = kType) {
    return tasks.submit_json(type, "1", options);
  }

  std::vector<TaskHandle> submit_many(std::size_t count, const std::string& type = kType) {
    std::vector<TaskHandle> handles;
    handles.reserve(count);
    for (std::size_t i = 0; i < count; ++i) handles.push_back(submit({}, type));
    return handles;
  }

  [[nodiscard]] TaskRecord record(const TaskHandle& task) {
    std::optional<TaskRecord> found = engine.catalog().find(task.id());
    if (!found) throw std::logic_error{"there is no such task"};
    return *std::move(found);
  }

  [[nodiscard]] bool becomes(const TaskHandle& task, TaskStatus status) {
    return eventually([&] { return record(task).data.status == status; });
  }

  /// Lets time pass, and the workers look what is due now.
  void pass(std::chrono::milliseconds time) {
    clock.advance(time);
    const std::string queue = kDefaultQueue;
    engine.real().queue().resume({&queue, 1});
  }

  /// Another worker claims all that is due, and dies: nobody knows yet.
  void lose_with_a_worker() {
    static_cast<void>(other_process->queue().claim({.queues = {kDefaultQueue},
                                                    .limit = 100,
                                                    .worker = "dead",
                                                    .lease = std::chrono::seconds{15},
                                                    .suspects = 100}));
  }

  SqliteFile file;
  FakeClock clock;
  FaultyEngine engine{file.open(clock)};
  std::unique_ptr<Engine> other_process = file.open(clock);
  MessageTypes messages;
  ExceptionTypes exceptions;
  Handlers handlers;
  RecordingLogger logger;
  Tasks tasks{engine, messages, exceptions};
};

}  // namespace errand::testing
