#include "engine/redis/storage.hpp"

#include <algorithm>
#include <vector>

#include "errand/errors.hpp"

#include "core/move_status.hpp"
#include "engine/redis/entry.hpp"
#include "engine/redis/records.hpp"

namespace errand::redis {
namespace {

void add_optional(Command& arguments, const std::optional<Timestamp>& time) {
  if (time) {
    arguments.add(*time);
  } else {
    arguments.add("");
  }
}

void add_document(Command& arguments, const char* name, const std::optional<std::string>& text) {
  if (text) arguments.add(name).add(*text);
}

/// When a task was completed: by its record's key, by its entry.
std::optional<std::int64_t> whole_second(const Value& completed_at) {
  if (completed_at.is_nil()) return std::nullopt;
  return completed_at.integer();
}
std::optional<std::int64_t> exact_second(const Value& packed) {
  const Entry entry{packed.text()};
  if (!entry.has(Entry::Field::completed_at)) return std::nullopt;
  const Timestamp completed_at = time_of(entry.integer(Entry::Field::completed_at));
  return std::chrono::floor<std::chrono::seconds>(completed_at).time_since_epoch().count();
}

}  // namespace

Reply Storage::change(const Script& script, const Command& arguments) {
  try {
    return database_.write(script, arguments);
  } catch (const Locked& locked) {
    throw ConcurrentModificationException{locked.what()};
  }
}

void Storage::tell(TaskId id, TaskStatus status) {
  if (is_final(status)) database_.notifications().tell_completion({&id, 1});
  if (is_waiting(status)) database_.notifications().tell_work({});
}

void Storage::save(const TaskData& task) {
  validate(task);
  Command arguments;
  arguments.add(task.id)
      .add(task.version ? std::to_string(*task.version) : "")
      .add(to_string(task.status))
      .add(task.submitted_at);
  add_optional(arguments, task.started_at);
  add_optional(arguments, task.completed_at);
  add_document(arguments, "payload", task.payload);
  add_document(arguments, "result", task.result);
  add_document(arguments, "error", task.error);
  const Reply reply = change(scripts().save, arguments);
  if (reply.value().size() == 1) {
    const Value stored = reply.value()[0];
    detail::refuse_stale(task, stored.is_nil() ? std::nullopt : std::optional{stored.integer()});
  }
  tell(task.id, task.status);
}

std::optional<TaskData> Storage::load(TaskId id) {
  Command arguments;
  arguments.add("1").add(id);
  const Reply reply = database_.read(scripts().read, arguments);
  if (reply.value()[1].is_nil()) return std::nullopt;
  TaskRecord task =
      read_record(reply.value()[1], time_of(reply.value()[0].integer()), database_.ttl());
  validate(task.data);
  if (task.expired) return std::nullopt;
  return std::move(task.data);
}

void Storage::update_status(TaskId id, TaskStatus status,
                            std::optional<std::int64_t> expected_version) {
  // The rules are the core's and not the script's: read, decide, and write if nothing has changed.
  Command asked;
  asked.add("1").add(id);
  while (true) {
    const Reply found = database_.read(scripts().read, asked);
    if (found.value()[1].is_nil()) throw TaskNotFoundException{id};
    const Timestamp now = time_of(found.value()[0].integer());
    TaskData task = read_record(found.value()[1], now, database_.ttl()).data;
    detail::move_status(task, status, expected_version, now);
    Command arguments;
    arguments.add(id).add(task.version.value_or(0)).add(to_string(status));
    add_optional(arguments, task.started_at);
    add_optional(arguments, task.completed_at);
    if (change(scripts().move, arguments).value().integer() == 1) break;
  }
  tell(id, status);
}

void Storage::remove(TaskId id) {
  Command arguments;
  arguments.add("any").add(id);
  if (change(scripts().remove, arguments).value().size() > 0) {
    database_.notifications().tell_completion({&id, 1});
  }
}

std::size_t Storage::delete_expired_tasks(Timestamp before) {
  // Shared records may be those of other programs, and have no entry.
  const bool shared = database_.settings().record == RecordKind::shared;
  const std::string_view name = shared ? "completed_at" : "meta";
  const std::string pattern = database_.task_key("*", name);
  const std::int64_t last_second =
      std::chrono::floor<std::chrono::seconds>(before).time_since_epoch().count();
  std::size_t deleted = 0;
  std::vector<std::string> ids;
  const auto delete_found = [&] {
    if (ids.empty()) return;
    Command arguments;
    arguments.add(before);
    for (const std::string& id : ids) arguments.add(id);
    deleted += database_.write(scripts().remove, arguments).value().size();
    ids.clear();
  };
  std::string cursor = "0";
  do {
    const Reply page = database_.read([&](Connection& connection) {
      Command scan{"SCAN"};
      scan.add(cursor).add("MATCH").add(pattern).add("COUNT").add(std::int64_t{kExpiryBatch});
      return connection.run(scan);
    });
    const Value keys = page.value()[1];
    cursor = page.value()[0].text();
    if (keys.size() == 0) continue;
    const Reply found = database_.read([&](Connection& connection) {
      Command get{"MGET"};
      for (std::size_t i = 0; i < keys.size(); ++i) get.add(keys[i].text());
      return connection.run(get);
    });
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Value value = found.value()[i];
      const std::optional<std::int64_t> second = shared ? whole_second(value) : exact_second(value);
      if (!second || *second > last_second) continue;
      std::string_view key = keys[i].text();
      key.remove_suffix(name.size() + 1);
      const std::string_view id = key.substr(key.rfind(':') + 1);
      if (TaskId::parse(id)) ids.emplace_back(id);
      if (ids.size() == kExpiryBatch) delete_found();
    }
  } while (cursor != "0");
  delete_found();
  return deleted;
}

}  // namespace errand::redis
