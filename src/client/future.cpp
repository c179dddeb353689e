#include "errand/future.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"
#include "errand/tasks.hpp"

#include "client/completion_waiter.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;

using Steady = std::chrono::steady_clock;

/// How long after its submit a task that no signal has told of is looked for: one may be lost.
constexpr milliseconds kFirstLook{5};

/// Longer waits are not told apart: the clock could not count them.
constexpr milliseconds kForever = std::chrono::years{100};

/// What a blocked caller waits for. Shared with the waiter, whose callback may outlive the call.
struct Arrival {
  std::mutex mutex;
  std::condition_variable arrived;
  bool ready = false;
  std::optional<Finish> finish;
  std::exception_ptr error;
};

void throw_if_gone(const Finish& finish) {
  if (finish.kind == Finish::Kind::unknown) throw TaskNotFoundException{finish.id};
  if (finish.kind == Finish::Kind::expired) throw TaskExpiredException{finish.id};
}

std::string result_of(const Finish& finish, const ExceptionTypes& exceptions) {
  throw_if_gone(finish);
  switch (finish.status) {
    case TaskStatus::completed:
      return finish.result.value_or("null");
    case TaskStatus::failed:
      exceptions.rethrow(finish.id, parse_exception_data(finish.error.value_or("")));
    default:
      throw TaskCancelledException{finish.id};
  }
}

std::optional<Finish> look(Engine& engine, TaskId id) {
  const TaskId ids[]{id};
  std::vector<Finish> finishes = engine.queue().finished(ids);
  if (finishes.empty()) return std::nullopt;
  return std::move(finishes.front());
}

/// nullopt: `timeout` passed first.
std::optional<Finish> wait_for(Engine& engine, detail::CompletionWaiter& waiter, TaskId id,
                               Steady::time_point submitted, std::optional<milliseconds> timeout) {
  if (timeout && timeout->count() <= 0) return look(engine, id);
  const auto deadline = Steady::now() + std::min(timeout.value_or(kForever), kForever);
  const auto first_look = submitted + kFirstLook;
  // Where there is little time, the first look is not put off.
  if (first_look + 10 * kFirstLook > deadline) submitted = {};
  const auto arrival = std::make_shared<Arrival>();
  const auto added = waiter.add(
      id,
      [arrival](const Finish* finish, std::exception_ptr error) {
        {
          const std::lock_guard lock{arrival->mutex};
          if (finish != nullptr) arrival->finish = *finish;
          arrival->error = std::move(error);
          arrival->ready = true;
        }
        arrival->arrived.notify_one();
      },
      detail::CompletionWaiter::By::whoever, submitted);
  std::unique_lock lock{arrival->mutex};
  const auto ready = [&] { return arrival->ready; };
  // Under the lock, which callbacks take: they are not called under the waiter's.
  if (!added.looks && !arrival->arrived.wait_until(lock, first_look, ready)) waiter.look_for(id);
  if (!timeout) {
    arrival->arrived.wait(lock, ready);
  } else if (!arrival->arrived.wait_until(lock, deadline, ready)) {
    lock.unlock();
    waiter.remove(id, added.ticket);
    return std::nullopt;
  }
  if (arrival->error) std::rethrow_exception(arrival->error);
  return std::move(arrival->finish);
}

TaskRecord find_live(Engine& engine, TaskId id) {
  std::optional<TaskRecord> record = engine.catalog().find(id);
  if (!record) throw TaskNotFoundException{id};
  if (record->expired) throw TaskExpiredException{id};
  return *std::move(record);
}

}  // namespace

TaskStatus TaskHandle::status() const { return find_live(tasks_->engine_, id_).data.status; }

std::optional<Progress> TaskHandle::progress() const {
  return find_live(tasks_->engine_, id_).progress;
}

bool TaskHandle::wait(std::optional<milliseconds> timeout) const {
  const std::optional<Finish> finish =
      wait_for(tasks_->engine_, *tasks_->waiter_, id_, submitted_, timeout);
  if (finish) throw_if_gone(*finish);
  return finish.has_value();
}

CancelStatus TaskHandle::cancel() const {
  const TaskId ids[]{id_};
  const CancelStatus status = tasks_->engine_.queue().cancel(ids).front();
  if (status == CancelStatus::not_found) throw TaskNotFoundException{id_};
  return status;
}

std::string TaskHandle::get_json(std::optional<milliseconds> timeout) const {
  const std::optional<Finish> finish =
      wait_for(tasks_->engine_, *tasks_->waiter_, id_, submitted_, timeout);
  if (!finish) {
    throw TimeoutException{"task " + id_.to_string() + " is not finished after " +
                           std::to_string(timeout->count()) + " ms; it goes on"};
  }
  return result_of(*finish, tasks_->exceptions_);
}

TaskHandle::Ticket TaskHandle::when_final(JsonCallback done) const {
  const ExceptionTypes& exceptions = tasks_->exceptions_;
  const auto added = tasks_->waiter_->add(
      id_, [done = std::move(done), &exceptions](const Finish* finish, std::exception_ptr error) {
        std::string json;
        if (finish != nullptr) {
          try {
            json = result_of(*finish, exceptions);
          } catch (...) {
            error = std::current_exception();
          }
        }
        done(error, std::move(json));
      });
  return added.ticket;
}

bool TaskHandle::forget(Ticket ticket) const { return tasks_->waiter_->remove(id_, ticket); }

}  // namespace errand
