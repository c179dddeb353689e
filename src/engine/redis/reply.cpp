#include "engine/redis/reply.hpp"

#include <charconv>

#include "errand/errors.hpp"

namespace errand::redis {

std::int64_t Value::integer() const noexcept {
  if (reply_ == nullptr) return 0;
  if (reply_->type == REDIS_REPLY_INTEGER) return reply_->integer;
  std::int64_t number = 0;
  std::from_chars(text().data(), text().data() + text().size(), number);
  return number;
}

TaskId Value::task_id() const {
  if (const std::optional<TaskId> id = TaskId::parse(text())) return *id;
  throw StorageException{"Redis holds an id that is none", StorageException::Retry::useless};
}

}  // namespace errand::redis
