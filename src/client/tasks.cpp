#include "errand/tasks.hpp"

#include "errand/errors.hpp"

#include "client/completion_waiter.hpp"
#include "client/submit_batcher.hpp"

namespace errand {

Tasks::Tasks(Engine& engine, const MessageTypes& messages, const ExceptionTypes& exceptions,
             WaitOptions wait)
    : engine_{engine},
      messages_{messages},
      exceptions_{exceptions},
      batcher_{std::make_unique<detail::SubmitBatcher>(engine.queue())},
      waiter_{std::make_unique<detail::CompletionWaiter>(engine, wait)} {}

Tasks::~Tasks() = default;

TaskHandle Tasks::submit_json(const std::string& type, std::string payload,
                              const SubmitOptions& options) {
  static_cast<void>(parse_json(payload));
  return submit_encoded(type, std::move(payload), options);
}

TaskHandle Tasks::submit_encoded(const std::string& type, std::string payload,
                                 const SubmitOptions& options) {
  NewTask task = make_task(type, std::move(payload), options);
  if (options.id) task.id = *options.id;
  validate(task);
  TaskHandle handle{*this, task.id};
  handle.submitted_ = std::chrono::steady_clock::now();
  batcher_->submit(std::move(task));
  return handle;
}

void Tasks::submit_batch(std::span<const NewTask> batch) { engine_.queue().submit(batch); }

NewTask Tasks::make_task(const std::string& type, std::string payload,
                         const SubmitOptions& options) {
  return NewTask{.id = TaskId::generate(),
                 .envelope = Envelope{type, std::move(payload), options.headers},
                 .queue = options.queue,
                 .delay = options.delay,
                 .priority = options.priority,
                 .retry = options.retry};
}

void Tasks::refuse_one_id_for_many(const SubmitOptions& options) {
  if (options.id) {
    throw ValidationException{
        "submit_all() gives each task an id of its own: leave SubmitOptions::id empty"};
  }
}

}  // namespace errand
